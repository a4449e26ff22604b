package discovery

import "k8s.io/apimachinery/pkg/runtime/schema"

// Resource is one resource in one version, as the server describes it. Its
// slices are shared by copies and are to be read only.
type Resource struct {
	// Group is "" for the core group.
	Group   string
	Version string

	// Plural is the name in URLs, "deployments".
	Plural string

	// Singular is the name for one, "deployment". It is the kind in lower case
	// where the server does not say.
	Singular string

	// Kind is the type of its objects, "Deployment".
	Kind string

	// ShortNames are abbreviations, such as "deploy".
	ShortNames []string

	// Categories are names of sets that it is in, such as "all".
	Categories []string

	// Verbs are what it allows: "list", "watch" and so on.
	Verbs []string

	// Namespaced says that its objects live in namespaces.
	Namespaced bool

	// Preferred says that Version is the one that the server prefers in Group.
	Preferred bool
}

// GVR is how package rest names the resource.
func (r Resource) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural}
}

// GVK is the type of its objects.
func (r Resource) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// String is the name that means this resource in any version: "pods",
// "deployments.apps".
func (r Resource) String() string {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}.String()
}
