package discovery

import "k8s.io/apimachinery/pkg/runtime/schema"

// Resource is one resource in one version, as the server describes it. A program must not change
// its slices, because copies of a Resource share them.
type Resource struct {
	// Group is "" for the core group.
	Group   string
	Version string

	// Plural is the name in URLs, such as "deployments".
	Plural string

	// Singular is the name of one object, such as "deployment". If the server does not send it,
	// Singular is the kind in lower case.
	Singular string

	// Kind is the kind of its objects, such as "Deployment".
	Kind string

	// ShortNames are abbreviations, such as "deploy".
	ShortNames []string

	// Categories are the names of sets of resources that include this one, such as "all".
	Categories []string

	// Verbs are the allowed verbs: "list", "watch" and so on.
	Verbs []string

	// Namespaced says that its objects live in namespaces.
	Namespaced bool

	// Preferred says that the server prefers Version for this resource. If the preferred version of
	// Group lacks the resource, another version is preferred for it.
	Preferred bool
}

// setPreferred marks the first version of each resource as preferred, and the other versions as
// not preferred. resources must be in the server's order of preference.
func setPreferred(resources []Resource) {
	seen := map[schema.GroupResource]bool{}
	for i := range resources {
		r := &resources[i]
		name := schema.GroupResource{Group: r.Group, Resource: r.Plural}
		r.Preferred = !seen[name]
		seen[name] = true
	}
}

// GVR returns the group, version and plural of the resource, for package rest.
func (r Resource) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural}
}

// GVK returns the kind of its objects.
func (r Resource) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// String returns the name of the resource in any version: "pods", "deployments.apps".
func (r Resource) String() string {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}.String()
}
