package rest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kinform/kinform/rest/internal/decode"
)

// For returns a resource of a server, with objects of type T. For a built-in type, For
// knows the resource:
//
//	pods, err := rest.For[*corev1.Pod](client, rest.ResourceOptions{})
//
// Built-in types are the types of k8s.io/api with resources, and also CustomResourceDefinition and
// APIService. For any other type, opts must name the resource. T may be *unstructured.Unstructured,
// or a pointer to a user's struct that has only the needed fields:
//
//	websites := schema.GroupVersionResource{
//		Group: "example.com", Version: "v1", Resource: "websites"}
//	typed, err := rest.For[*Website](client, rest.ResourceOptions{Resource: websites})
//	untyped, err := rest.For[*unstructured.Unstructured](client,
//		rest.ResourceOptions{Resource: websites})
//
// For types of k8s.io/api, the client requests protobuf, and accepts JSON. Objects of built-in
// types lack kind and apiVersion in both encodings, as with client-go's typed clients. For all
// other types, the client requests JSON, and objects have everything that the server sent.
// [NewResource] is for a type that decodes protobuf by its own method.
//
// If T is *metav1.PartialObjectMetadata, the client asks the server to send only metadata. It comes
// in protobuf, for custom resources as well. If a server sends whole objects anyway, the client
// reads their metadata.
//
// The function For knows the built-in types that have namespaces. If the type has no namespaces, a
// namespace in opts is an error. If the type has namespaces, a verb for one object needs a
// namespace. The function For sends no request: its error is about the arguments, and says what to
// write instead.
func For[T any](c *Client, opts ResourceOptions) (*Resource[T], error) {
	d, namespaced, err := c.typeFor(reflect.TypeFor[T](), &opts)
	if err != nil {
		return nil, err
	}
	r, err := newResource[T](c, opts, d)
	if err != nil {
		return nil, err
	}
	r.namespaced = namespaced
	return r, nil
}

// Must returns value, or panics with err if err is not nil. It is for tests, and for resources
// whose names are fixed in the source code.
//
//	pods := rest.Must(rest.For[*corev1.Pod](client, rest.ResourceOptions{}))
func Must[V any](value V, err error) V {
	if err != nil {
		panic(err)
	}
	return value
}

// typeFor does the work of For, without the type parameter. If the type is built-in, it sets the
// resource in opts. It returns the facts about the type, and whether objects are known to have a
// namespace.
func (c *Client) typeFor(t reflect.Type, opts *ResourceOptions) (d decode.Type, namespaced bool, err error) {
	if c == nil {
		return d, false, errNoClient
	}
	elem, pointer := t, t.Kind() == reflect.Pointer
	if pointer {
		elem = t.Elem()
	}
	builtinResource, namespaced, builtin := builtinType(elem)
	switch {
	case builtin && !pointer:
		return d, false, fmt.Errorf("rest: objects are pointers: write rest.For[*%s] instead of rest.For[%[1]s]", t)
	case builtin && (opts.Resource.Empty() || opts.Resource == builtinResource):
		opts.Resource = builtinResource
		if !namespaced && opts.Namespace != "" {
			return d, false, fmt.Errorf("rest: ResourceOptions.Namespace is %q, but %s have no namespace: leave it empty", opts.Namespace, builtinResource.Resource)
		}
	case opts.Resource.Empty():
		return d, false, unknownResourceError(t, elem)
	default:
		namespaced = false // unknown, so verbs do not check
	}
	d.Kindless = pointer && (builtin || decode.IsGenerated(elem))
	d.Tagged = pointer && c.tagged(elem)
	return d, namespaced, nil
}

// unknownResourceError returns the error for a type whose resource For does not know.
func unknownResourceError(t, elem reflect.Type) error {
	if item, ok := strings.CutSuffix(elem.Name(), "List"); ok && decode.IsGenerated(elem) {
		object := strings.TrimSuffix(t.String(), "List")
		return fmt.Errorf("rest: %s is a list, but T must be the type of the objects: write rest.For[%s] for objects of kind %s", t, object, item)
	}
	return fmt.Errorf("rest: %s is not a type of k8s.io/api with a known resource: write rest.For[%[1]s](client, rest.ResourceOptions{Resource: "+
		`schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "websites"}}) with the names of your resource: kubectl api-resources shows them`, t)
}

var errNoClient = errors.New("rest: a Resource needs a Client, which is nil")

// validate returns an error if no call could succeed with o. An invalid name of a namespace is an
// error: an API server would respond with an empty list, and a cache would silently stay empty.
func (o *ResourceOptions) validate() error {
	gvr := o.Resource
	switch {
	case gvr.Version == "" || gvr.Resource == "":
		return fmt.Errorf("rest: the resource %q has no version or no name: kubectl api-resources shows both", gvr)
	case strings.ToLower(gvr.Resource) != gvr.Resource:
		return fmt.Errorf("rest: the resource is %q: the name must be a plural in lower case, such as \"websites\" for the kind Website", gvr)
	case o.Decoder != nil && o.Unshared:
		return errors.New("rest: ResourceOptions.Decoder and Unshared exclude each other: set one of them")
	}
	if err := checkSegments(gvr.Group, gvr.Version, gvr.Resource, o.Namespace); err != nil {
		return err
	}
	if o.Namespace != "" {
		if problems := validation.IsDNS1123Label(o.Namespace); len(problems) > 0 {
			return fmt.Errorf("rest: ResourceOptions.Namespace is %q: %s", o.Namespace, problems[0])
		}
	}
	if _, err := labels.Parse(o.LabelSelector); err != nil {
		return fmt.Errorf("rest: ResourceOptions.LabelSelector is %q: %w", o.LabelSelector, err)
	}
	if _, err := fields.ParseSelector(o.FieldSelector); err != nil {
		return fmt.Errorf("rest: ResourceOptions.FieldSelector is %q: %w", o.FieldSelector, err)
	}
	return nil
}
