package apitest

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest/internal/storage"
)

// Resource describes a custom resource to serve. Group, Version, Plural and Kind
// are required.
type Resource struct {
	Group   string
	Version string

	// Plural is the name in URLs, such as "widgets".
	Plural string

	// Kind is the type's name in objects, such as "Widget".
	Kind string

	// Singular defaults to the Kind in lower case.
	Singular string

	// ShortNames and Categories are further names that discovery reports to kubectl.
	ShortNames []string
	Categories []string

	// ClusterScoped is set if objects have no namespace. Defaults to false: objects are namespaced.
	ClusterScoped bool

	// Status adds a status subresource. Writes to the main resource then do not change the status,
	// and writes to the subresource change nothing else. Defaults to false.
	Status bool

	// SelectableFields are the paths that field selectors may use, such as "spec.color". Selectors
	// may always use metadata.name and metadata.namespace.
	SelectableFields []string
}

// GroupVersionResource returns the name of the resource in the form that URLs have.
func (r Resource) GroupVersionResource() schema.GroupVersionResource {
	return storage.Description(r).GroupVersionResource()
}
