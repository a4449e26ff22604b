package discovery_test

import (
	"context"
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
)

// A Mapper finds the resource of a kind. A reference to an object, such as an owner reference, has
// the kind, but a request needs the name of the resource.
func ExampleMapper() {
	server := apitest.New(apitest.Options{})
	defer server.Close()
	if err := server.ListenMemory(); err != nil {
		log.Fatal(err)
	}
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	mapper := discovery.NewMapper(client, discovery.MapperOptions{})
	owner := schema.FromAPIVersionAndKind("apps/v1", "ReplicaSet")
	resource, err := mapper.FindKind(context.Background(), owner)
	fmt.Println(resource.GVR(), resource.Namespaced, err)
	// Output: apps/v1, Resource=replicasets true <nil>
}
