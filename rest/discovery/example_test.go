package discovery_test

import (
	"fmt"

	"github.com/kinform/kinform/rest/discovery"
)

// Find turns a name from a command line into a resource for package rest. A real program gets the
// resources from [discovery.Resources].
func ExampleFind() {
	resources := []discovery.Resource{
		{Version: "v1", Plural: "pods", Singular: "pod", Kind: "Pod", ShortNames: []string{"po"}, Namespaced: true, Preferred: true},
		{Group: "apps", Version: "v1", Plural: "deployments", Singular: "deployment", Kind: "Deployment", ShortNames: []string{"deploy"}, Namespaced: true, Preferred: true},
	}
	for _, name := range []string{"po", "Deployment", "deployments.v1.apps", "deplyment"} {
		r, err := discovery.Find(resources, name)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(r.GVR())
	}
	// Output:
	// /v1, Resource=pods
	// apps/v1, Resource=deployments
	// apps/v1, Resource=deployments
	// the server has no resource "deplyment": did you mean deployments.apps?
}
