package rest_test

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

// website is a user's type, without generated code.
type website struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Host string `json:"host"`
	} `json:"spec"`
}

var websitesGVR = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "websites"}

// each calls the function f for every object of a list.
func each[T any](t *testing.T, r *rest.Resource[T], f func(T)) {
	t.Helper()
	list, err := r.List(t.Context(), listwatch.ListOptions{})
	require.NoError(t, err)
	defer list.Close()
	for {
		item, err := list.Next()
		if err == io.EOF {
			return
		}
		require.NoError(t, err)
		f(item.Object)
	}
}

// The function For supports built-in types, users' types and unstructured objects.
func TestForSupportsBuiltinUserAndUnstructuredTypes(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	accepted := map[string]string{}
	server, c := newServer(t, apitest.Options{
		Resources: []apitest.Resource{{Group: "example.com", Version: "v1", Plural: "websites", Kind: "Website"}},
		OnRequest: func(r apitest.Request) {
			mu.Lock()
			defer mu.Unlock()
			accepted[r.Verb+" "+r.Resource] = r.HTTP.Header.Get("Accept")
		},
	})
	_, err := server.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a"}, Spec: corev1.PodSpec{NodeName: "node-1"}})
	require.NoError(t, err)
	_, err = server.Create(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Website",
		"metadata": map[string]any{"namespace": "n", "name": "a"}, "spec": map[string]any{"host": "a.example"}}})
	require.NoError(t, err)
	key, none := types.NamespacedName{Namespace: "n", Name: "a"}, metav1.GetOptions{}
	named := rest.ResourceOptions{Resource: websitesGVR}

	pods, err := rest.For[*corev1.Pod](c, rest.ResourceOptions{})
	require.NoError(t, err)
	typed, err := rest.For[*website](c, named)
	require.NoError(t, err)
	untyped, err := rest.For[*unstructured.Unstructured](c, named)
	require.NoError(t, err)
	metadata, err := rest.For[*metav1.PartialObjectMetadata](c, named)
	require.NoError(t, err)

	seen := 0
	pod, err := pods.Get(t.Context(), key, none)
	require.NoError(t, err)
	each(t, pods, func(listed *corev1.Pod) { seen++; require.Equal(t, pod, listed) })
	require.Equal(t, "node-1", pod.Spec.NodeName)
	require.Empty(t, pod.Kind)
	site, err := typed.Get(t.Context(), key, none)
	require.NoError(t, err)
	each(t, typed, func(listed *website) { seen++; require.Equal(t, site, listed) })
	require.Equal(t, "a.example", site.Spec.Host)
	require.Equal(t, "Website", site.Kind)
	object, err := untyped.Get(t.Context(), key, none)
	require.NoError(t, err)
	each(t, untyped, func(listed *unstructured.Unstructured) { seen++; require.Equal(t, object, listed) })
	require.Equal(t, "Website", object.GetKind())
	require.Equal(t, 3, seen)

	mu.Lock()
	require.Contains(t, accepted["list pods"], "protobuf")
	require.Contains(t, accepted["get pods"], "protobuf")
	require.NotContains(t, accepted["list websites"]+accepted["get websites"], "protobuf")
	mu.Unlock()
	each(t, metadata, func(listed *metav1.PartialObjectMetadata) { require.Equal(t, site.UID, listed.UID) })
	mu.Lock()
	defer mu.Unlock()
	require.Contains(t, accepted["list websites"], "protobuf")
	require.Contains(t, accepted["list websites"], "PartialObjectMetadata")
}

// An object that a verb returns belongs to the caller, although the objects of lists share parts.
func TestVerbsReturnUnsharedObjects(t *testing.T) {
	t.Parallel()
	server, c := newServer(t, apitest.Options{})
	for _, name := range []string{"a", "b"} {
		_, err := server.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, Labels: map[string]string{"app": "web"}}})
		require.NoError(t, err)
	}
	pods := rest.Must(rest.For[*corev1.Pod](c, rest.ResourceOptions{}))
	each(t, pods, func(*corev1.Pod) {})
	var got []*corev1.Pod
	for _, name := range []string{"a", "b", "a"} {
		pod, err := pods.Get(t.Context(), types.NamespacedName{Namespace: "n", Name: name}, metav1.GetOptions{})
		require.NoError(t, err)
		got = append(got, pod)
	}
	got[0].Labels["app"] = "changed"
	for _, pod := range got[1:] {
		require.Equal(t, "web", pod.Labels["app"])
	}
	each(t, pods, func(pod *corev1.Pod) { require.Equal(t, "web", pod.Labels["app"]) })
}

// If no call could ever succeed, For returns an error at once. The error says what to write
// instead.
func TestForErrorsSayWhatToWrite(t *testing.T) {
	t.Parallel()
	_, c := newServer(t, apitest.Options{OnRequest: func(apitest.Request) { panic("For must not send a request") }})
	first := func(_ any, err error) error { return err }
	named := func(o rest.ResourceOptions) rest.ResourceOptions { o.Resource = websitesGVR; return o }
	for want, err := range map[string]error{
		"*rest_test.website is not a type of k8s.io/api with a known resource: write rest.For[*rest_test.website](client, rest.ResourceOptions{Resource: schema.GroupVersionResource{"://
		first(rest.For[*website](c, rest.ResourceOptions{})),
		"write rest.For[*unstructured.Unstructured](client, rest.ResourceOptions{Resource: ":                            first(rest.For[*unstructured.Unstructured](c, rest.ResourceOptions{})),
		"write rest.For[*v1.PartialObjectMetadata](client, rest.ResourceOptions{Resource: ":                             first(rest.For[*metav1.PartialObjectMetadata](c, rest.ResourceOptions{})),
		"*v1.PodList is a list, but T must be the type of the objects: write rest.For[*v1.Pod] for objects of kind Pod": first(rest.For[*corev1.PodList](c, rest.ResourceOptions{})),
		"objects are pointers: write rest.For[*v1.Deployment] instead of rest.For[v1.Deployment]":                       first(rest.For[appsv1.Deployment](c, rest.ResourceOptions{})),
		"leave it empty": first(rest.For[*corev1.Node](c, rest.ResourceOptions{Namespace: "n"})),
		`a plural in lower case, such as "websites"`: first(rest.For[*website](c,
			rest.ResourceOptions{Resource: websitesGVR.GroupVersion().WithResource("Website")})),
		"has no version or no name":            first(rest.For[*website](c, rest.ResourceOptions{Resource: schema.GroupVersionResource{Resource: "websites"}})),
		`Namespace is "My Team"`:               first(rest.For[*website](c, named(rest.ResourceOptions{Namespace: "My Team"}))),
		`cannot be part of a path`:             first(rest.For[*corev1.Pod](c, rest.ResourceOptions{Namespace: "a/b"})),
		`LabelSelector is "app=web,,"`:         first(rest.For[*corev1.Pod](c, rest.ResourceOptions{LabelSelector: "app=web,,"})),
		`FieldSelector is "nodeName"`:          first(rest.For[*corev1.Pod](c, rest.ResourceOptions{FieldSelector: "nodeName"})),
		`LabelSelector is "a in b"`:            first(rest.NewResource[*corev1.Pod](c, podsOf, rest.ResourceOptions{LabelSelector: "a in b"})),
		`LabelSelector is "a in"`:              first(rest.NewJSONResource[*website](c, websitesGVR, rest.ResourceOptions{LabelSelector: "a in"})),
		"leave ResourceOptions.Resource empty": first(rest.NewJSONResource[*corev1.Pod](c, podsOf, named(rest.ResourceOptions{}))),
		"use NewResource":                      first(rest.For[*website](c, named(rest.ResourceOptions{Encoding: rest.Protobuf}))),
		"set one of them":                      first(rest.For[*corev1.Pod](c, rest.ResourceOptions{Decoder: failingDecoder{}, Unshared: true})),
		"needs a Client":                       first(rest.For[*corev1.Pod](nil, rest.ResourceOptions{})),
	} {
		require.ErrorContains(t, err, want)
	}
	require.Panics(t, func() { rest.Must(rest.For[*website](c, rest.ResourceOptions{})) })
	r, err := rest.For[*website](c, rest.ResourceOptions{})
	require.Error(t, err)
	require.Nil(t, r)
}

type failingDecoder struct{}

func (failingDecoder) DecodeProtobuf([]byte, any, any) error { return errors.New("never") }
func (failingDecoder) DecodeJSON([]byte, any) error          { return errors.New("never") }

// For accepts every selector that a server accepts.
func TestForAcceptsSelectorsOfTheServer(t *testing.T) {
	t.Parallel()
	_, c := newServer(t, apitest.Options{})
	for _, selector := range []string{"", "app=web,tier!=cache", "app==web", "app in (web, db)", "!app", "app notin (a)", "example.com/app", "n>1", "app="} {
		each(t, rest.Must(rest.For[*corev1.Pod](c, rest.ResourceOptions{LabelSelector: selector})), func(*corev1.Pod) {})
	}
	for _, selector := range []string{"", "metadata.name=a", "metadata.name!=a", "metadata.name==a,metadata.namespace=n"} {
		each(t, rest.Must(rest.For[*corev1.Pod](c, rest.ResourceOptions{FieldSelector: selector})), func(*corev1.Pod) {})
	}
	for _, namespace := range []string{"kube-system", "1", strings.Repeat("n", 63)} {
		each(t, rest.Must(rest.For[*corev1.Pod](c, rest.ResourceOptions{Namespace: namespace})), func(*corev1.Pod) {})
	}
}

// If the options name a resource, a built-in type may be used for another resource than its own. A
// type of a later k8s.io/api also works this way.
func TestForWithExplicitResource(t *testing.T) {
	t.Parallel()
	server, c := newServer(t, apitest.Options{})
	_, err := server.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	require.NoError(t, err)
	pods := rest.Must(rest.For[*corev1.Pod](c, rest.ResourceOptions{Resource: podsOf}))
	_, err = pods.Get(t.Context(), types.NamespacedName{Name: "a"}, metav1.GetOptions{})
	require.ErrorContains(t, err, "a namespace is required", "naming a type's own resource must change nothing")
	_, err = rest.For[*corev1.Node](c, rest.ResourceOptions{Resource: corev1.SchemeGroupVersion.WithResource("nodes"), Namespace: "n"})
	require.ErrorContains(t, err, "no namespace")
}
