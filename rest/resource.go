package rest

import (
	"context"
	"fmt"
	"reflect"
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

// Resource is one type of object on a server. It implements [listwatch.Source],
// and has the verbs by which a controller acts. It is safe for concurrent use and
// holds nothing that would need closing.
//
// [NewResource] makes one of objects that can decode protobuf, as all types of
// k8s.io/api can, [NewJSONResource] one of any others.
type Resource[T any] struct {
	client  *Client
	gvr     schema.GroupVersionResource
	opts    ResourceOptions
	decoder decoder[T]
	err     error // what is wrong with gvr or opts, answered by every call

	namespaced bool // objects are known to have a namespace
}

// Message is an object that can decode protobuf: a pointer to any type of
// k8s.io/api. Unmarshal must copy what it keeps, and must be T's own method: a
// struct that embeds only metav1.ObjectMeta has that one's, which is of no use.
type Message interface {
	Unmarshal(data []byte) error
}

// NewResource returns the resource gvr of a server, for a built-in type such as
// *corev1.Pod. Its objects are asked for in protobuf, and read in JSON where the
// server prefers that. They come without kind and apiVersion, as from client-go's
// typed clients, whichever encoding they arrived in.
//
// What is wrong with the arguments, such as a namespace with a slash in it, is what
// every call answers.
//
// That the method Unmarshal is bound here, where T is known, and not asked for at
// run time, saves half a megabyte in a program with k8s.io/api/core/v1: the linker
// would have to keep the method of every type in it.
func NewResource[T Message](c *Client, gvr schema.GroupVersionResource, opts ResourceOptions) *Resource[T] {
	return newResource(c, gvr, opts, decoder[T]{
		elem:      pointee[T](),
		unmarshal: func(object T, data []byte) error { return object.Unmarshal(data) },
	})
}

// NewJSONResource is NewResource for any other type: *unstructured.Unstructured
// for every custom resource, the struct of one, a slim struct with a few fields
// of a built-in type, or whatever else JSON can be decoded into. Objects have what
// the server wrote.
func NewJSONResource[T any](c *Client, gvr schema.GroupVersionResource, opts ResourceOptions) *Resource[T] {
	return newResource(c, gvr, opts, decoder[T]{elem: pointee[T]()})
}

// String is the address of the collection. (A Host with credentials is refused.)
func (r *Resource[T]) String() string {
	return strings.TrimSuffix(r.client.base.String(), "/") + r.path(types.NamespacedName{Namespace: r.opts.Namespace})
}

func newResource[T any](c *Client, gvr schema.GroupVersionResource, opts ResourceOptions, d decoder[T]) *Resource[T] {
	r := &Resource[T]{client: c, gvr: gvr, opts: opts, decoder: d}
	r.err = r.validate()
	if opts.Encoding == Automatic && d.unmarshal == nil {
		r.opts.Encoding = JSON
	}
	return r
}

func (r *Resource[T]) validate() error {
	switch {
	case r.gvr.Version == "" || r.gvr.Resource == "":
		return fmt.Errorf("rest: %q names no version or no resource", r.gvr)
	case r.opts.Encoding == Protobuf && r.decoder.unmarshal == nil:
		return fmt.Errorf("rest: Encoding is Protobuf, which %s does not decode: use NewResource for types that do", reflect.TypeFor[T]())
	}
	return checkSegments(r.gvr.Group, r.gvr.Version, r.gvr.Resource, r.opts.Namespace)
}

// send sends a request about this resource and reports the encoding of the answer.
func (r *Resource[T]) send(ctx context.Context, req request) (*exchange, Encoding, error) {
	if r.err != nil {
		return nil, 0, r.err
	}
	req.target.gvr = r.gvr
	req.accept = r.opts.Encoding.accept()
	x, err := r.client.send(ctx, req)
	if err != nil {
		return nil, 0, err
	}
	if x.encoding == Protobuf && r.decoder.unmarshal == nil {
		x.close()
		return nil, 0, x.fail(malformed("the answer is in protobuf, which was not asked for"))
	}
	return x, x.encoding, nil
}

// path is the path of an object or, without a name, of the collection in a
// namespace, "" meaning all, or of what lies below either.
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
			return fmt.Errorf("rest: %q cannot be part of a path: it must not be \".\" or \"..\", nor contain \"/\" or \"%%\"", segment)
		}
	}
	return nil
}
