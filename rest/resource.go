package rest

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/rest/internal/decode"
	"github.com/kinform/kinform/rest/internal/wire"
)

// ResourceOptions say which resource a Resource is for, which of its objects it lists and watches,
// and how it decodes them. The zero value means all objects of a built-in type.
type ResourceOptions struct {
	// Resource is the server's name of the resource, such as websites in the version v1 of the
	// group example.com. If T is a built-in type, it defaults to T's resource; see [For].
	Resource schema.GroupVersionResource

	// Namespace is the only namespace to read. Defaults to all namespaces, which is also right for
	// a resource without namespaces. An invalid name of a namespace is an error.
	Namespace string

	// LabelSelector and FieldSelector select the objects of List and Watch, in the API's own
	// syntax: "app=web,tier!=cache", "spec.nodeName=n1". A selector that cannot be parsed is an
	// error. They default to all objects.
	LabelSelector string
	FieldSelector string

	// Encoding is the encoding to request. Defaults to Automatic.
	Encoding Encoding

	// Kind is the kind of the objects, such as "Certificate". An object of another kind is an
	// error. If a written object lacks kind and apiVersion, the client adds them. Kind defaults to
	// the kind of T, if T is a built-in type, or otherwise to the kind of the resource, if it is
	// built-in. For other resources, it defaults to the kind of the first received object, until
	// the server says that the resource does not exist (404).
	Kind string

	// Project says which parts of an object List and Watch remove before they decode it; see
	// [Omit]. The other verbs return whole objects. Defaults to no parts.
	Project Projection

	// Decoder decodes the objects of List and Watch. Defaults to the Client's own
	// [sharing.Decoder], which all its resources use. It lets objects share their equal parts, so
	// they must not be changed in place, see [Resource]. Its table has at most 8 MiB. For a table
	// of another size, or one table for several clients, make a sharing.Decoder and set it here. A
	// Decoder of another type also decodes objects for callers that set
	// [listwatch.ListOptions].Owned. These objects must share nothing.
	//
	// By default, T's own methods decode the objects that the Client's Decoder cannot decode:
	// protobuf of types that are not built-in, JSON of a type with UnmarshalJSON, and JSON of a
	// type that is neither a pointer to a struct nor unstructured.
	Decoder Decoder

	// Unshared makes the objects of List and Watch share nothing, so that their receiver may change
	// them. Decoding then takes twice the memory and time. It excludes a Decoder. Defaults to
	// false.
	Unshared bool
}

// Resource is one resource of a server, with objects of type T. It implements
// [listwatch.Source], and has the verbs that controllers need. It is safe for concurrent
// use, and needs no Close.
//
// Objects of List and Watch may share parts with each other. As in any informer cache, shared
// objects must not be changed in place; change a DeepCopy instead. With [ResourceOptions].Unshared,
// or [listwatch.ListOptions].Owned, objects share nothing. The verbs (Get, Create, Update, Patch
// and all others) return objects that belong to the caller.
//
// [For] makes a Resource.
type Resource[T any] struct {
	client *Client
	streamDecoder[T]
	uncompressed atomic.Bool // true if lists must be requested without compression
	partial      bool        // T is *metav1.PartialObjectMetadata

	namespaced bool // objects are known to have a namespace
}

// Message is an object that can decode protobuf, such as a pointer to a type of k8s.io/api.
// Unmarshal must not keep data. Unmarshal must be T's own method: a struct that only embeds
// metav1.ObjectMeta has the Unmarshal of the metadata, which does not decode the struct.
type Message interface {
	Unmarshal(data []byte) error
}

// NewResource is like [For], for a type that decodes protobuf by its own method Unmarshal. For does
// not call this method. NewResource is for types of API groups outside of k8s.io/api, such as
// *metricsv1beta1.NodeMetrics. Objects lack kind and apiVersion.
//
// NewResource is a separate function, because a type parameter with this method needs no lookup at
// run time. If For looked for the method at run time, the linker would keep the method of every
// type: half a megabyte in a program with k8s.io/api/core/v1.
func NewResource[T Message](c *Client, gvr schema.GroupVersionResource, opts ResourceOptions) (*Resource[T], error) {
	if err := opts.setResource(gvr); err != nil {
		return nil, err
	}
	return newResource[T](c, opts, decode.Type{
		Kindless:  true,
		Unmarshal: func(data []byte, object any) error { return object.(T).Unmarshal(data) },
	})
}

// NewJSONResource is like [For], for the resource gvr and in JSON. Objects have everything that the
// server sent, kind and apiVersion included, even if T is a built-in type. Lists and watches are in
// protobuf only if opts has a Decoder, which must be able to decode T, and Protobuf as its
// Encoding.
func NewJSONResource[T any](c *Client, gvr schema.GroupVersionResource, opts ResourceOptions) (*Resource[T], error) {
	if err := opts.setResource(gvr); err != nil {
		return nil, err
	}
	return newResource[T](c, opts, decode.Type{})
}

// setResource sets o.Resource to gvr. It returns an error if o has another resource.
func (o *ResourceOptions) setResource(gvr schema.GroupVersionResource) error {
	if !o.Resource.Empty() && o.Resource != gvr {
		return fmt.Errorf("rest: ResourceOptions.Resource is %q, but the argument is %q: leave ResourceOptions.Resource empty", o.Resource, gvr)
	}
	o.Resource = gvr
	return nil
}

// String returns the address of the collection. It has no secrets, because NewClient refuses a Host
// with credentials.
func (r *Resource[T]) String() string {
	return strings.TrimSuffix(r.client.base.String(), "/") + r.path(types.NamespacedName{Namespace: r.opts.Namespace})
}

// GroupVersionResource returns the server's name of the resource.
func (r *Resource[T]) GroupVersionResource() schema.GroupVersionResource { return r.gvr }

// GroupKind returns the kind of the objects with its group. Kind is empty unless
// ResourceOptions.Kind is set, or the type or the resource is built-in.
func (r *Resource[T]) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: r.gvr.Group, Kind: r.kinds.Load().Kind}
}

func newResource[T any](c *Client, opts ResourceOptions, t decode.Type) (*Resource[T], error) {
	if c == nil {
		return nil, errNoClient
	}
	if err := opts.validate(); err != nil {
		return nil, err
	}
	t.Go = reflect.TypeFor[T]()
	r := &Resource[T]{client: c}
	r.configure(&c.decodeConfig, &opts, t)
	if opts.Encoding == Protobuf && !r.items.Shared.Protobuf() {
		return nil, fmt.Errorf("rest: Encoding is Protobuf, which %s does not decode: use NewResource for types with protobuf, or a Decoder", t.Go)
	}
	r.partial = t.Go == reflect.TypeFor[*metav1.PartialObjectMetadata]()
	r.kinds.Store(newKindChecker(r.gvr, opts.Kind, t.Go, r.partial))
	return r, nil
}

// send sends a request for this resource, and returns the exchange with the encoding of the
// response. d is the decoder for the response, and determines which encodings are requested.
func (r *Resource[T]) send(ctx context.Context, req request, d *decode.Decoder) (*exchange, Encoding, error) {
	req.target.Resource = r.gvr
	wanted := r.opts.Encoding
	if !d.Protobuf() {
		wanted = JSON
	}
	req.accept = wanted.accept()
	if r.partial {
		req.accept = acceptMetadata(req.accept, req.list)
	}
	x, err := r.client.send(ctx, req)
	if err != nil {
		return nil, 0, err
	}
	if x.encoding == Protobuf && !d.Protobuf() {
		x.close()
		return nil, 0, x.wrapError(wire.Malformed("the response is in protobuf, which was not requested"))
	}
	return x, x.encoding, nil
}

// path returns the path of an object, or of one of its subresources. If key has no name, it returns
// the path of the collection in a namespace, or in all namespaces if key has no namespace either.
func (r *Resource[T]) path(key types.NamespacedName, subresources ...string) string {
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
	return strings.Join(append(segments, subresources...), "/")
}

// checkSegments returns an error for a segment that would change the meaning of a path
// (RS-3).
func checkSegments(segments ...string) error {
	for _, segment := range segments {
		if segment == "." || segment == ".." || strings.ContainsAny(segment, "/%") {
			return fmt.Errorf("rest: %q cannot be part of a path: it must not be \".\" or \"..\", nor contain \"/\" or \"%%\"", segment)
		}
	}
	return nil
}
