package rest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/wire"
)

var (
	foosGVR    = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "foos"}
	secretsGVR = corev1.SchemeGroupVersion.WithResource("secrets")
)

// partialSecret is a user's type for a Secret.
type partialSecret struct {
	metav1.ObjectMeta `json:"metadata"`
	Data              map[string][]byte `json:"data"`
}

func secrets(c *Client) *Resource[*corev1.Secret] {
	return Must(NewResource[*corev1.Secret](c, secretsGVR, ResourceOptions{}))
}

// kindErrors returns the errors of a list, a streaming list, a watch, a Get and a patch, for an
// object of this kind.
func kindErrors[T any](t *testing.T, e Encoding, kind string, object any, resource func(*Client) *Resource[T]) map[string]error {
	t.Helper()
	list := encode(t, e, kind+"List", &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "1"}})
	one := encode(t, e, kind, object)
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType(e))
		switch {
		case r.URL.Query().Has("watch"):
			_, _ = w.Write(slices.Concat(event(t, e, "ADDED", kind, object)))
		case r.Method != http.MethodGet || r.URL.Path[len(r.URL.Path)-2:] == "/a":
			_, _ = w.Write(one)
		default:
			_, _ = w.Write(list)
		}
	})
	errs := map[string]error{}
	for name, try := range map[string]func(context.Context, *Resource[T]) error{
		"list": listErr[T],
		"watch": func(ctx context.Context, r *Resource[T]) error {
			stream, err := r.Watch(ctx, listwatch.WatchOptions{})
			require.NoError(t, err)
			defer stream.Close()
			_, _, err = drainWatch(stream)
			return err
		},
		"get": func(ctx context.Context, r *Resource[T]) error {
			_, err := r.Get(ctx, types.NamespacedName{Name: "a"}, metav1.GetOptions{})
			return err
		},
		"patch": func(ctx context.Context, r *Resource[T]) error {
			_, err := r.Patch(ctx, types.NamespacedName{Name: "a"}, types.MergePatchType, nil, metav1.PatchOptions{})
			return err
		},
	} {
		errs[name] = try(t.Context(), resource(serve(t, server, Options{MaxRetries: -1})))
	}
	return errs
}

// Without a check of the kind, the data of a ConfigMap would be decoded as the data of a Secret.
func TestObjectOfAnotherKindIsRefused(t *testing.T) { // issue: a ConfigMap was stored as a Secret
	t.Parallel()
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "1"}, Data: map[string]string{"password": "c2VjcmV0"}}
	for _, e := range encodings {
		for what, err := range kindErrors(t, e, "ConfigMap", configMap, secrets) {
			require.ErrorIs(t, err, ErrMalformed, "%s %s", e, what)
			require.ErrorContains(t, err, "/api/v1/secrets")
			require.ErrorContains(t, err, "of v1 is expected, but the response has the kind \"ConfigMap")
			require.NotContains(t, err.Error(), "c2VjcmV0")
		}
		for what, err := range kindErrors(t, e, "Secret", configMap, secrets) {
			if err != io.EOF {
				require.NoError(t, err, "%s %s", e, what)
			}
		}
	}
	// A program that reads a built-in resource into its own type gets the same error, even if this
	// type has no field for the kind.
	for what, err := range kindErrors(t, JSON, "ConfigMap", configMap, func(c *Client) *Resource[*partialSecret] {
		return Must(NewJSONResource[*partialSecret](c, secretsGVR, ResourceOptions{}))
	}) {
		require.ErrorContains(t, err, `Secret`, what)
		require.ErrorIs(t, err, ErrMalformed, what)
	}
	for what, err := range kindErrors(t, JSON, "ConfigMap", configMap, func(c *Client) *Resource[*unstructured.Unstructured] {
		return Must(NewJSONResource[*unstructured.Unstructured](c, secretsGVR, ResourceOptions{}))
	}) {
		require.ErrorIs(t, err, ErrMalformed, what)
	}
}

// TestUnrequestedPartialMetadataIsRefused: if the client accepted metadata instead of whole
// objects, a cache would lose the rest of the objects.
func TestUnrequestedPartialMetadataIsRefused(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		object := encodeAs(t, e, "meta.k8s.io/v1", "PartialObjectMetadata", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "1"}})
		list := encodeAs(t, e, "meta.k8s.io/v1", "PartialObjectMetadata"+"List", &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}})
		require.ErrorIs(t, listErr(t.Context(), pods(serveBytes(t, e, list))), ErrMalformed)
		_, err := pods(serveBytes(t, e, object)).Get(t.Context(), types.NamespacedName{Name: "a"}, metav1.GetOptions{})
		require.ErrorIs(t, err, ErrMalformed)

		// A program that requests metadata may get whole objects instead.
		metadata := func(body []byte) *Resource[*metav1.PartialObjectMetadata] {
			return Must(NewResource[*metav1.PartialObjectMetadata](serveBytes(t, e, body), podsGVR, ResourceOptions{}))
		}
		require.Equal(t, io.EOF, listErr(t.Context(), metadata(list)))
		require.Equal(t, io.EOF, listErr(t.Context(), metadata(podList(t, e, "1", plainPod(1)))))
		require.ErrorIs(t, listErr(t.Context(), metadata(encode(t, e, "SecretList", &corev1.SecretList{}))), ErrMalformed)
		_, err = metadata(object).Get(t.Context(), types.NamespacedName{Name: "a"}, metav1.GetOptions{})
		require.NoError(t, err)
	}
}

// encodeAs is like encode, with a given apiVersion.
func encodeAs(t testing.TB, e Encoding, apiVersion, kind string, object any) []byte {
	data := encode(t, e, kind, object)
	if e == JSON {
		return bytes.Replace(data, []byte(`"apiVersion":"v1"`), fmt.Appendf(nil, `"apiVersion":%q`, apiVersion), 1)
	}
	_, _, raw, err := wire.Unwrap(data, false)
	require.NoError(t, err)
	typeMeta := fmt.Appendf(nil, "\x0a%c%s\x12%c%s", len(apiVersion), apiVersion, len(kind), kind)
	out := fmt.Appendf(nil, "%s\x0a%c%s\x12", wire.Magic, len(typeMeta), typeMeta)
	for n := len(raw); ; n >>= 7 {
		if n < 0x80 {
			return append(append(out, byte(n)), raw...)
		}
		out = append(out, byte(n)|0x80)
	}
}

// The items of a List of v1 name their own kinds.
func TestKindsOfItems(t *testing.T) {
	t.Parallel()
	read := func(r *Resource[*unstructured.Unstructured], list string, items ...string) error {
		body := fmt.Sprintf(`{%s,"items":[`, list)
		for i, item := range items {
			if i > 0 {
				body += ","
			}
			body += fmt.Sprintf(`{%s"metadata":{"name":"n%d"}}`, item, i)
		}
		stream := r.readList(offline(t.Context(), bytes.NewReader([]byte(body+"]}"))), JSON, nil)
		defer stream.Close()
		_, _, err := drainList(stream)
		return err
	}
	const foo, bar = `"apiVersion":"example.com/v1","kind":"Foo",`, `"apiVersion":"example.com/v1","kind":"Bar",`
	const fooList = `"apiVersion":"example.com/v1","kind":"FooList"`
	foos := func(opts ResourceOptions) *Resource[*unstructured.Unstructured] {
		return Must(NewJSONResource[*unstructured.Unstructured](&Client{}, foosGVR, opts))
	}
	kind := ResourceOptions{Kind: "Foo"}
	for _, list := range []string{fooList, `"kind":"FooList"`, `"kind":"FooList","apiVersion":"example.com/v1"`, `"apiVersion":"v1","kind":"List"`, `"apiVersion":"example.com/v1","kind":"CollectionList"`} {
		require.Equal(t, io.EOF, read(foos(kind), list, foo, foo))
		require.Equal(t, io.EOF, read(foos(ResourceOptions{}), list, foo, foo))
		require.ErrorIs(t, read(foos(kind), list, foo, bar), ErrMalformed)
		require.ErrorIs(t, read(foos(ResourceOptions{}), list, foo, bar), ErrMalformed, "the kind of the first item, Foo, must be required of the second")
		require.ErrorIs(t, read(foos(kind), list, `"kind":"Foo","apiVersion":"other.example.com/v1",`), ErrMalformed)
	}
	for _, list := range []string{`"kind":"FooList","apiVersion":"v1"`, `"apiVersion":"v1","kind":"APIResourceList"`, `"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList"`, `"kind":"Table"`} {
		require.ErrorIs(t, read(foos(ResourceOptions{}), list), ErrMalformed, list)
		require.ErrorIs(t, read(foos(kind), list), ErrMalformed, list)
	}
	// The first response determines the kind for all later responses.
	r := foos(ResourceOptions{})
	require.Equal(t, io.EOF, read(r, fooList, foo))
	require.Equal(t, io.EOF, read(r, fooList, foo))
	require.ErrorContains(t, read(r, `"apiVersion":"example.com/v1","kind":"BarList"`), "FooList of example.com/v1 is expected")
	_, err := r.decodeObject(JSON, []byte(`{"kind":"Bar","apiVersion":"example.com/v1","metadata":{"name":"a"}}`))
	require.ErrorContains(t, err, `Foo of example.com/v1 is expected, but the response has the kind "Bar" of "example.com/v1"`)
	_, err = r.decodeObject(JSON, []byte(`{"apiVersion":"v1","kind":"Status","status":"Success"}`))
	require.ErrorIs(t, err, ErrMalformed)
	_, err = foos(ResourceOptions{}).decodeObject(JSON, []byte(`{"apiVersion":"example.com/v1","kind":"Status","metadata":{"name":"a"}}`))
	require.NoError(t, err, "a custom resource may have the kind Status")
}

// Servers write the kind first. A kind that comes later counts as well.
func TestKindAfterMetadataIsChecked(t *testing.T) {
	t.Parallel()
	body := `{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"},"data":{},"kind":"ConfigMap","apiVersion":"v1"}}`
	stream := secrets(&Client{}).readWatch(offline(t.Context(), bytes.NewReader([]byte(body))), JSON, nil, nil)
	_, _, err := drainWatch(stream)
	require.NoError(t, stream.Close())
	require.ErrorIs(t, err, ErrMalformed)
}

func TestErrorOfAnotherKind(t *testing.T) {
	t.Parallel()
	// in protobuf, the bytes of a Status are the same
	body := event(t, JSON, "ERROR", "Secret", bookmark("7", nil))
	stream := secrets(&Client{}).readWatch(offline(t.Context(), bytes.NewReader(body)), JSON, nil, nil)
	_, _, err := drainWatch(stream)
	require.NoError(t, stream.Close())
	require.ErrorIs(t, err, ErrMalformed)
}

func TestSubresourceMayBeOfAnotherKind(t *testing.T) {
	t.Parallel()
	client := serveBytes(t, JSON, []byte(`{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a"},"spec":{"replicas":3}}`))
	deployments := Must(For[*appsv1.Deployment](client, ResourceOptions{Namespace: "n"}))
	scale, err := Must(NewSubresource[*autoscalingv1.Scale](deployments, "scale")).Get(t.Context(), types.NamespacedName{Name: "a"}, metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 3, scale.Spec.Replicas)
	_, err = deployments.Get(t.Context(), types.NamespacedName{Name: "a"}, metav1.GetOptions{})
	require.ErrorContains(t, err, "Deployment of apps/v1 is expected")
}

// A user may delete a CRD, and create another CRD for a resource of the same name with another
// kind. In between, the server responds with 404.
func TestKindIsResetAfter404(t *testing.T) {
	t.Parallel()
	kind := "Foo"
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kind == "" || r.URL.Path == "/apis/example.com/v1/foos/a" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", mediaTypeJSON)
		object := fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":%q,"metadata":{"name":"a","resourceVersion":"1"}}`, kind)
		if r.URL.Query().Has("watch") {
			fmt.Fprintf(w, `{"type":"ADDED","object":%s}`, object)
			return
		}
		fmt.Fprintf(w, `{"apiVersion":"example.com/v1","kind":"%sList","metadata":{"resourceVersion":"1"},"items":[%s]}`, kind, object)
	}), Options{})
	r := Must(NewJSONResource[*unstructured.Unstructured](client, foosGVR, ResourceOptions{}))
	watch := func() error {
		stream, err := r.Watch(t.Context(), listwatch.WatchOptions{})
		if err != nil {
			return err
		}
		defer stream.Close()
		_, _, err = drainWatch(stream)
		return err
	}
	list := func() error { return listErr(t.Context(), r) }
	for _, gone := range []func() error{list, watch} {
		require.Equal(t, io.EOF, list())
		require.Equal(t, io.EOF, watch())
		was := kind
		kind += "Bar"
		require.ErrorIs(t, list(), ErrMalformed)
		require.ErrorIs(t, watch(), ErrMalformed)
		_, err := r.Get(t.Context(), types.NamespacedName{Name: "a"}, metav1.GetOptions{})
		require.Equal(t, http.StatusNotFound, statusCode(err))
		require.ErrorIs(t, list(), ErrMalformed, "a 404 for one object must not reset the kind")
		kind = ""
		require.Equal(t, http.StatusNotFound, statusCode(gone()))
		kind = was + "Bar"
	}
	require.Equal(t, io.EOF, list())
	require.Equal(t, io.EOF, watch())
}

// A stream that was open when its resource was deleted still has objects of the old kind. They do
// not determine the kind of a resource that was created later.
func TestOpenStreamOfDeletedResourceSetsNoKind(t *testing.T) {
	t.Parallel()
	kind, gone := "Foo", false
	next := make(chan string)
	defer close(next)
	object := func(kind, name string) string {
		return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":%q,"metadata":{"name":%q,"resourceVersion":"1"}}`, kind, name)
	}
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", mediaTypeJSON)
		if r.URL.Query().Has("watch") {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			for object := range next {
				fmt.Fprintf(w, `{"type":"DELETED","object":%s}`, object)
				_ = http.NewResponseController(w).Flush()
			}
			return
		}
		fmt.Fprintf(w, `{"apiVersion":"example.com/v1","kind":"%sList","metadata":{"resourceVersion":"1"},"items":[%s]}`, kind, object(kind, "a"))
	}), Options{})
	r := Must(NewJSONResource[*unstructured.Unstructured](client, foosGVR, ResourceOptions{}))
	require.Equal(t, io.EOF, listErr(t.Context(), r))
	stream, err := r.Watch(t.Context(), listwatch.WatchOptions{})
	require.NoError(t, err)
	defer stream.Close()

	gone = true
	require.Equal(t, http.StatusNotFound, statusCode(listErr(t.Context(), r)))
	next <- object("Foo", "a")
	_, err = stream.Next()
	require.NoError(t, err)

	kind, gone = "Bar", false
	require.Equal(t, io.EOF, listErr(t.Context(), r), "the kind of the deleted resource must not matter for the new resource")
	next <- object("Bar", "b")
	_, err = stream.Next()
	require.ErrorIs(t, err, ErrMalformed, "a stream must refuse objects of a second kind")
}

func TestGroupKindOfResources(t *testing.T) {
	t.Parallel()
	c := &Client{}
	require.Equal(t, "Pod", pods(c).kinds.Load().Kind)
	require.Equal(t, "Secret", secrets(c).kinds.Load().Kind)
	require.Equal(t, "Ingress", Must(For[*networkingv1.Ingress](c, ResourceOptions{})).kinds.Load().Kind)
	require.Equal(t, "Deployment", Must(NewJSONResource[map[string]any](c, appsv1.SchemeGroupVersion.WithResource("deployments"), ResourceOptions{})).kinds.Load().Kind)
	require.Equal(t, "Secret", Must(NewResource[*corev1.Secret](c, podsGVR, ResourceOptions{})).kinds.Load().Kind, "the kind of a built-in type must have precedence over the kind of the resource")
	require.Equal(t, "Own", Must(NewResource[*corev1.Secret](c, secretsGVR, ResourceOptions{Kind: "Own"})).kinds.Load().Kind)
	require.Empty(t, Must(NewJSONResource[*unstructured.Unstructured](c, foosGVR, ResourceOptions{})).kinds.Load().Kind)
	require.Empty(t, Must(NewResource[*appsv1.Deployment](c, foosGVR, ResourceOptions{})).kinds.Load().Kind, "the type's kind must not be used for a resource of another group")
}
