package rest

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// ResourceOptions narrow a Resource. The zero value means all objects.
type ResourceOptions struct {
	// Namespace is the only namespace to look at. Defaults to all of them, which
	// is also right for what has no namespace.
	Namespace string

	// LabelSelector and FieldSelector narrow List and Watch, in the API's own
	// syntax: "app=web,tier!=cache", "spec.nodeName=n1". Default to no selection.
	LabelSelector string
	FieldSelector string

	// Encoding is what to ask the server for. Defaults to Automatic.
	Encoding Encoding
}

// Resource is one type of object on a server. It implements listwatch.Source, and
// has the verbs by which a controller acts. It is safe for concurrent use and
// holds nothing that would need closing.
type Resource[T any] struct {
	client *Client
	gvr    schema.GroupVersionResource
	opts   ResourceOptions
	err    error // what is wrong with gvr or opts, answered by every call
}

// NewResource returns the resource gvr of a server. What is wrong with the
// arguments, such as a namespace with a slash in it, is what every call answers.
func NewResource[T any](c *Client, gvr schema.GroupVersionResource, opts ResourceOptions) *Resource[T] {
	return &Resource[T]{client: c, gvr: gvr, opts: opts, err: checkSegments(gvr.Group, gvr.Version, gvr.Resource, opts.Namespace)}
}

// path is the path of the collection in a namespace, "" meaning all, or of what
// lies below it.
func (r *Resource[T]) path(key types.NamespacedName, below ...string) string {
	segments := []string{"", "apis", r.gvr.Group, r.gvr.Version}
	if r.gvr.Group == "" {
		segments = []string{"", "api", r.gvr.Version}
	}
	if key.Namespace != "" {
		segments = append(segments, "namespaces", key.Namespace)
	}
	segments = append(segments, r.gvr.Resource)
	if key.Name != "" {
		segments = append(segments, key.Name)
	}
	return strings.Join(append(segments, below...), "/")
}

// checkSegments refuses what would change the meaning of a path (RS-3).
func checkSegments(segments ...string) error {
	for _, segment := range segments {
		if segment == "." || segment == ".." || strings.ContainsAny(segment, "/%") {
			return fmt.Errorf("%q cannot be part of a path: it must not be \".\" or \"..\", nor contain \"/\" or \"%%\"", segment)
		}
	}
	return nil
}
