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
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/rest/internal/wire"
)

// ResourceOptions name and narrow a Resource. The zero value means all objects of a built-in
// type.
type ResourceOptions struct {
	// Resource is what the server calls the resource, such as websites in the version v1 of
	// the group example.com. Defaults to that of T, if T is a built-in type; see [For].
	Resource schema.GroupVersionResource

	// Namespace is the only namespace to look at. Defaults to all of them, which
	// is also right for what has no namespace. One that cannot exist is an error.
	Namespace string

	// LabelSelector and FieldSelector narrow List and Watch, in the API's own
	// syntax: "app=web,tier!=cache", "spec.nodeName=n1". One that cannot be parsed is an
	// error. Default to no selection.
	LabelSelector string
	FieldSelector string

	// Encoding is what to ask the server for. Defaults to Automatic.
	Encoding Encoding

	// Kind is what kind of objects these are, such as "Certificate": an answer with
	// anything else is an error. Defaults to that of T, if T is a built-in type, or of
	// the resource, if that is built-in; for any other, the first kind that comes is
	// that of all, until the server says that there is no such resource (404).
	Kind string

	// Project says which parts of an object List and Watch remove before they decode
	// it; see [Omit]. The other verbs answer with whole objects. Defaults to nothing.
	Project Projection

	// Decoder makes the objects of List and Watch. Defaults to the Client's own, a
	// [sharing.Decoder] for all its resources, by which objects share what is equal in
	// them: they must not be changed in place, see [Resource]. It needs a table of at
	// most 8 MiB; who wants another size, or one table for several clients, makes a
	// sharing.Decoder and sets it here.
	//
	// By default, T's own methods decode what the Client's Decoder cannot know: messages of
	// any type that is not built-in, and JSON into a type with UnmarshalJSON, or into
	// what is neither a pointer to a struct nor unstructured.
	Decoder Decoder

	// Unshared has List and Watch decode so that each object is its reader's alone, for
	// twice the memory and time. It excludes a Decoder. Defaults to false.
	Unshared bool
}

// Resource is one type of object on a server. It implements [listwatch.Source],
// and has the verbs by which a controller acts. It is safe for concurrent use and
// holds nothing that would need closing.
//
// Objects of List and Watch may share parts with each other, and must never be changed
// in place, as those of any cache: DeepCopy makes one's own. With
// [ResourceOptions].Unshared, or [listwatch.ListOptions].Owned, they share nothing. The verbs
// (Get, Create, Update, Patch and all others) answer with objects of the caller's own.
//
// [For] makes one.
type Resource[T any] struct {
	client  *Client
	gvr     schema.GroupVersionResource
	opts    ResourceOptions
	decoder decoder // of single objects
	streams decoder // of lists and watches
	owned   decoder // of those whose objects the caller may change
	kinds   atomic.Pointer[kinds]
	scales  *scales
	plain   atomic.Bool // lists are not to be compressed any more
	partial bool        // T is *metav1.PartialObjectMetadata

	namespaced bool // objects are known to have a namespace
}

// Message is an object that can decode protobuf: a pointer to any type of
// k8s.io/api. Unmarshal must copy what it keeps, and must be T's own method: a
// struct that embeds only metav1.ObjectMeta has that one's, which is of no use.
type Message interface {
	Unmarshal(data []byte) error
}

// NewResource is [For] for a type that decodes protobuf by its own method Unmarshal, which
// For does not call: a type of another API group than those of k8s.io/api, such as
// *metricsv1beta1.NodeMetrics. Objects come without kind and apiVersion.
//
// That the method Unmarshal is bound here, where T is known, and not asked for at
// run time, saves half a megabyte in a program with k8s.io/api/core/v1: the linker
// would have to keep the method of every type in it.
func NewResource[T Message](c *Client, gvr schema.GroupVersionResource, opts ResourceOptions) (*Resource[T], error) {
	if err := opts.name(gvr); err != nil {
		return nil, err
	}
	return newResource[T](c, opts, decoder{
		kindless: true,
		protobuf: func(data []byte, object any) error { return object.(T).Unmarshal(data) },
	})
}

// NewJSONResource is [For] for the resource gvr with all that the server wrote, kind and
// apiVersion included, also where T is a built-in type. Lists and watches are in JSON as
// well, unless opts has a Decoder, which can decode T, and Protobuf as its Encoding.
func NewJSONResource[T any](c *Client, gvr schema.GroupVersionResource, opts ResourceOptions) (*Resource[T], error) {
	if err := opts.name(gvr); err != nil {
		return nil, err
	}
	return newResource[T](c, opts, decoder{})
}

// name sets the resource.
func (o *ResourceOptions) name(gvr schema.GroupVersionResource) error {
	if !o.Resource.Empty() && o.Resource != gvr {
		return fmt.Errorf("rest: ResourceOptions.Resource is %q, and the argument is %q: leave the former empty", o.Resource, gvr)
	}
	o.Resource = gvr
	return nil
}

// String is the address of the collection. (A Host with credentials is refused.)
func (r *Resource[T]) String() string {
	return strings.TrimSuffix(r.client.base.String(), "/") + r.path(types.NamespacedName{Namespace: r.opts.Namespace})
}

// GroupVersionResource is what the server calls the resource.
func (r *Resource[T]) GroupVersionResource() schema.GroupVersionResource { return r.gvr }

// GroupKind is the kind of the objects with its group. Kind is empty where neither
// ResourceOptions.Kind nor a built-in type or resource says it.
func (r *Resource[T]) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: r.gvr.Group, Kind: r.kinds.Load().kind}
}

func newResource[T any](c *Client, opts ResourceOptions, d decoder) (*Resource[T], error) {
	if c == nil {
		return nil, errNoClient
	}
	if err := opts.validate(); err != nil {
		return nil, err
	}
	d.typ = reflect.TypeFor[T]()
	d.guard(kjson.UnmarshalCaseSensitivePreserveInts)
	if d.tagged {
		d.protobuf = func(data []byte, object any) error { return c.owner().DecodeProtobuf(data, object, nil) }
	}
	r := &Resource[T]{client: c, gvr: opts.Resource, opts: opts, decoder: d, streams: d.streaming(c, &opts)}
	if opts.Encoding == Protobuf && r.streams.protobuf == nil {
		return nil, fmt.Errorf("rest: Encoding is Protobuf, which %s does not decode: use NewResource for types that do, or a Decoder", d.typ)
	}
	if r.owned = r.streams; opts.Decoder == nil {
		r.owned = d.streaming(nil, &opts)
	}
	r.partial = d.typ == reflect.TypeFor[*metav1.PartialObjectMetadata]()
	r.kinds.Store(kindsOf(r.gvr, opts.Kind, d.typ, r.partial))
	r.scales = newScales(d.typ, c.limits())
	return r, nil
}

// send sends a request about this resource and reports the encoding of the answer,
// which d is to decode.
func (r *Resource[T]) send(ctx context.Context, req request, d *decoder) (*exchange, Encoding, error) {
	req.about.Resource = r.gvr
	wanted := r.opts.Encoding
	if d.protobuf == nil {
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
	if x.encoding == Protobuf && d.protobuf == nil {
		x.close()
		return nil, 0, x.fail(wire.Malformed("the answer is in protobuf, which was not asked for"))
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
