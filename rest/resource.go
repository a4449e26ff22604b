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
// T is a pointer to a struct, such as *corev1.Pod or *unstructured.Unstructured,
// or anything else that JSON can be decoded into. Where *X has a method
// Unmarshal([]byte) error, as all of k8s.io/api has, protobuf is preferred; that
// method must copy what it keeps. Objects of such a type come without kind and
// apiVersion, as from client-go's typed clients, whichever encoding they arrived
// in; all others have what the server wrote.
type Resource[T any] struct {
	client  *Client
	gvr     schema.GroupVersionResource
	opts    ResourceOptions
	decoder decoder[T]
	err     error // what is wrong with gvr or opts, answered by every call
}

// NewResource returns the resource gvr of a server. What is wrong with the
// arguments, such as a namespace with a slash in it, is what every call answers.
func NewResource[T any](c *Client, gvr schema.GroupVersionResource, opts ResourceOptions) *Resource[T] {
	return newResource(c, gvr, opts, newDecoder[T]())
}

// Message is a pointer to X that can decode protobuf, as all types of k8s.io/api
// can.
type Message[X any] interface {
	*X
	Unmarshal(data []byte) error
}

// NewProtobufResource is NewResource for a type that can decode protobuf, named
// without the pointer:
//
//	pods := rest.NewProtobufResource[corev1.Pod](client, gvr, options)
//
// It does the same, and lets the program be smaller, by half a megabyte where
// k8s.io/api/core/v1 is part of it: NewResource asks at run time whether there is
// a method Unmarshal, for which the linker must keep that of every type. The method
// has to be X's own, and not one that X has from a field that it embeds.
func NewProtobufResource[X any, T Message[X]](c *Client, gvr schema.GroupVersionResource, opts ResourceOptions) *Resource[T] {
	return newResource(c, gvr, opts, decoder[T]{elem: reflect.TypeFor[X](), unmarshal: T.Unmarshal})
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
		return fmt.Errorf("rest: %s cannot be decoded from protobuf: it has no method Unmarshal([]byte) error of its own", reflect.TypeFor[T]())
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
	encoding, err := encodingOf(x.response)
	if err == nil && encoding == Protobuf && r.decoder.unmarshal == nil {
		err = malformed("the answer is in protobuf, which was not asked for")
	}
	if err != nil {
		err = x.fail(err)
		x.close()
		return nil, 0, err
	}
	return x, encoding, nil
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
