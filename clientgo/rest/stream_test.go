package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/listwatch"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/internal/sink"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

const somePods = 40

func serverWithPods(t *testing.T) *apitest.Server {
	t.Helper()
	server := apitest.Start(t, apitest.Options{})
	require.NoError(t, apitest.Populate(server, apitest.Pods(somePods, apitest.PodOptions{})))
	return server
}

var encodings = []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf}

// objectsOf returns the objects of items by name.
func objectsOf(t *testing.T, items []listwatch.Item[any]) map[string]any {
	t.Helper()
	objects := map[string]any{}
	for _, item := range items {
		require.NotContains(t, objects, item.Key.Name, "each object is passed to the reflector once")
		objects[item.Key.Name] = item.Object
	}
	return objects
}

// A reflector receives the same objects that the program's codec would put into the list. All other
// fields are in the list.
func TestListObjectsArePassedToTheReflector(t *testing.T) {
	server := serverWithPods(t)
	for _, contentType := range encodings {
		t.Run(contentType, func(t *testing.T) {
			client := clientOf(t, configOf(server.URL(), contentType))
			list := func(ctx context.Context, page metav1.ListOptions) (*corev1.PodList, error) {
				pods := &corev1.PodList{}
				err := client.Get().Resource("pods").VersionedParams(&page, parameter).Do(ctx).Into(pods)
				return pods, err
			}
			body, err := client.Get().Resource("pods").Do(t.Context()).Raw()
			require.NoError(t, err)
			want := &corev1.PodList{}
			info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), contentType)
			_, _, err = codecs.WithoutConversion().DecoderToVersion(info.Serializer, corev1.SchemeGroupVersion).Decode(body, nil, want)
			require.NoError(t, err)
			require.Len(t, want.Items, somePods)

			to := &sink.Sink{}
			got, err := list(sink.With(t.Context(), to), metav1.ListOptions{})
			require.NoError(t, err)
			require.Empty(t, got.Items)
			require.Equal(t, want.ListMeta, got.ListMeta)
			require.Equal(t, want.TypeMeta, got.TypeMeta)
			items, undecodable, ok := to.Take(got)
			require.True(t, ok)
			require.Empty(t, undecodable)
			objects := objectsOf(t, items)
			require.Len(t, objects, somePods)
			for i := range want.Items {
				require.Equal(t, &want.Items[i], objects[want.Items[i].Name])
			}

			// Each page has its own sink.
			token, all := "", 0
			for {
				to := &sink.Sink{}
				page, err := list(sink.With(t.Context(), to), metav1.ListOptions{Limit: 15, Continue: token})
				require.NoError(t, err)
				items, _, ok := to.Take(page)
				require.True(t, ok)
				require.Equal(t, want.ResourceVersion, page.ResourceVersion)
				all += len(items)
				if token = page.Continue; token == "" {
					break
				}
				require.NotNil(t, page.RemainingItemCount)
			}
			require.Equal(t, somePods, all)

			// Objects that the reflector already has are not decoded.
			to = &sink.Sink{Options: listwatch.ListOptions{Known: func(key types.NamespacedName, _ string, _ uint64) bool { return key.Name != "pod-000003" }}}
			got, err = list(sink.With(t.Context(), to), metav1.ListOptions{})
			require.NoError(t, err)
			items, _, ok = to.Take(got)
			require.True(t, ok)
			for _, item := range items {
				require.Equal(t, item.Key.Name != "pod-000003", item.State == listwatch.Unchanged)
			}

			// Get returns a list of the type that the codec chooses.
			to = &sink.Sink{}
			obj, err := client.Get().Resource("pods").Do(sink.With(t.Context(), to)).Get()
			require.NoError(t, err)
			require.IsType(t, want, obj)
			require.Equal(t, want.ResourceVersion, obj.(*corev1.PodList).ResourceVersion)
			items, _, ok = to.Take(obj)
			require.True(t, ok)
			require.Len(t, items, somePods)
		})
	}
}

// The objects of untyped lists and of lists of metadata are passed to the reflector too.
func TestListsOfDynamicAndMetadataClientsArePassedToTheReflector(t *testing.T) {
	server := serverWithPods(t)
	widgets := apitest.Resource{Group: "example.com", Version: "v1", Plural: "widgets", Kind: "Widget"}
	require.NoError(t, server.AddResource(widgets))
	for i := range somePods {
		_, err := server.Create(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": fmt.Sprint("w-", i), "namespace": "default"},
			"spec": map[string]any{"n": int64(i), "f": 1.5, "deep": []any{"a", nil, map[string]any{}}},
		}})
		require.NoError(t, err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	untyped, err := dynamic.NewForConfig(&rest.Config{Host: server.URL(), Transport: transport, QPS: -1})
	require.NoError(t, err)
	meta, err := metadata.NewForConfig(&rest.Config{Host: server.URL(), Transport: transport, QPS: -1})
	require.NoError(t, err)
	for _, resource := range []schema.GroupVersionResource{{Version: "v1", Resource: "pods"}, widgets.GroupVersionResource()} {
		t.Run(resource.Resource, func(t *testing.T) {
			body, err := (&http.Client{Transport: transport}).Get(server.URL() + pathOf(resource))
			require.NoError(t, err)
			data, err := io.ReadAll(body.Body)
			require.NoError(t, err)
			require.NoError(t, body.Body.Close())
			want := &unstructured.UnstructuredList{}
			require.NoError(t, runtime.DecodeInto(unstructured.UnstructuredJSONScheme, data, want))
			for name, to := range map[string]*sink.Sink{"filled": nil, "handed over": {}} {
				ctx := t.Context()
				if to != nil {
					ctx = sink.With(ctx, to)
				}
				got, err := untyped.Resource(resource).List(ctx, metav1.ListOptions{})
				require.NoError(t, err)
				require.Equal(t, want.GetResourceVersion(), got.GetResourceVersion(), name)
				require.Equal(t, want.GroupVersionKind(), got.GroupVersionKind(), name)
				if to == nil {
					require.Equal(t, want.Items, got.Items)
					continue
				}
				items, _, ok := to.Take(got)
				require.True(t, ok)
				objects := objectsOf(t, items)
				require.Len(t, objects, somePods)
				for i := range want.Items {
					require.Equal(t, &want.Items[i], objects[want.Items[i].GetName()])
				}
			}
			plain, err := meta.Resource(resource).List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			require.Len(t, plain.Items, somePods)
			to := &sink.Sink{}
			list, err := meta.Resource(resource).List(sink.With(t.Context(), to), metav1.ListOptions{})
			require.NoError(t, err)
			items, _, ok := to.Take(list)
			require.True(t, ok)
			require.Equal(t, plain.TypeMeta, list.TypeMeta)
			objects := objectsOf(t, items)
			for i := range plain.Items {
				require.Equal(t, &plain.Items[i], objects[plain.Items[i].Name])
			}
		})
	}
}

func pathOf(r schema.GroupVersionResource) string {
	if r.Group == "" {
		return "/api/" + r.Version + "/" + r.Resource
	}
	return "/apis/" + r.Group + "/" + r.Version + "/" + r.Resource
}

// If the objects of a list cannot be passed to the reflector, the result is the same as without a
// reflector.
func TestUnusualResponsesAreDecodedByTheProgramsCodec(t *testing.T) {
	server := serverWithPods(t)
	for name, action := range map[string]apitest.Action{
		"html": apitest.HTML(), "garbage": apitest.Garbage(), "empty": apitest.Empty(), "table": apitest.Table(), "expired": apitest.Expired(),
		"forbidden": apitest.Fail(apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))),
		"a pod":     apitest.Body(200, runtime.ContentTypeJSON, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`),
		"failure":   apitest.Body(200, runtime.ContentTypeJSON, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`),
		"none":      apitest.Body(200, runtime.ContentTypeJSON, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]}`),
		"another":   apitest.Body(200, runtime.ContentTypeJSON, `{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a"}}]}`),
		"late":      apitest.Body(200, runtime.ContentTypeJSON, `{"apiVersion":"v1","items":[{"metadata":{"name":"a"}}],"kind":"SecretList","metadata":{"resourceVersion":"5"}}`),
	} {
		for _, contentType := range encodings {
			t.Run(name+" "+contentType, func(t *testing.T) {
				client := clientOf(t, configOf(server.URL(), contentType))
				fault := server.Inject(apitest.Fault{Verb: "list", Resource: "pods", Action: action})
				defer fault.Remove()
				want := &corev1.PodList{}
				wantErr := client.Get().Resource("pods").Do(t.Context()).Into(want)
				to, got := &sink.Sink{}, &corev1.PodList{}
				err := client.Get().Resource("pods").Do(sink.With(t.Context(), to)).Into(got)
				require.Equal(t, want, got)
				if name == "late" {
					require.ErrorContains(t, err, "SecretList")
					return
				}
				require.Equal(t, wantErr, err)
				_, _, taken := to.Take(got)
				require.Equal(t, name == "none", taken && err == nil)
			})
		}
	}
}

// If a body ends early, the list fails and its objects are dropped. The same sink then takes the
// next list as a whole.
func TestATruncatedListIsNotPassedToTheReflector(t *testing.T) {
	server := serverWithPods(t)
	for _, contentType := range encodings {
		for _, size := range []int{10, 1000, 100_000} {
			t.Run(fmt.Sprint(contentType, size), func(t *testing.T) {
				client := clientOf(t, configOf(server.URL(), contentType))
				to, list := &sink.Sink{}, &corev1.PodList{}
				fault := server.Inject(apitest.Fault{Verb: "list", Resource: "pods", Action: apitest.CutBody(size)})
				err := client.Get().Resource("pods").MaxRetries(0).Do(sink.With(t.Context(), to)).Into(list)
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
				require.Equal(t, &corev1.PodList{}, list)
				fault.Remove()
				list = &corev1.PodList{}
				require.NoError(t, client.Get().Resource("pods").Do(sink.With(t.Context(), to)).Into(list))
				items, _, ok := to.Take(list)
				require.True(t, ok)
				require.Len(t, objectsOf(t, items), somePods)
			})
		}
	}
}

// An undecodable object is reported with its name. The result has all other objects.
func TestUndecodableObjectOfAListIsReported(t *testing.T) {
	server := serverWithPods(t)
	for _, contentType := range encodings {
		t.Run(contentType, func(t *testing.T) {
			client := clientOf(t, configOf(server.URL(), contentType))
			defer server.Inject(apitest.Fault{Verb: "list", Resource: "pods", Action: apitest.UndecodableObject(3)}).Remove()
			to, list := &sink.Sink{}, &corev1.PodList{}
			require.NoError(t, client.Get().Resource("pods").Do(sink.With(t.Context(), to)).Into(list))
			items, undecodable, ok := to.Take(list)
			require.True(t, ok)
			require.Len(t, items, somePods-1)
			require.Len(t, undecodable, 1)
			require.NotEmpty(t, undecodable[0].Key.Name)
			require.NotContains(t, objectsOf(t, items), undecodable[0].Key.Name)

			require.Error(t, client.Get().Resource("pods").Do(t.Context()).Into(list), "without a reflector, Into returns the codec's error")
		})
	}
}

// The end of the context ends a list while it arrives, and closes the response of a Result that was
// not read.
func TestContextEndsAListThatIsPassedToTheReflector(t *testing.T) {
	server := serverWithPods(t)
	defer server.Inject(apitest.Fault{Verb: "list", Resource: "pods", Action: apitest.SlowBody(50_000)}).Remove()
	client := clientOf(t, configOf(server.URL(), runtime.ContentTypeJSON))
	ctx, cancel := context.WithCancel(t.Context())
	to, list := &sink.Sink{}, &corev1.PodList{}
	to.Progress = cancel // at the first object
	err := client.Get().Resource("pods").Do(sink.With(ctx, to)).Into(list)
	require.ErrorIs(t, err, context.Canceled)
	_, _, ok := to.Take(list)
	require.False(t, ok)

	ctx, cancel = context.WithCancel(t.Context())
	result := client.Get().Resource("pods").Timeout(time.Hour).Do(sink.With(ctx, &sink.Sink{}))
	require.NoError(t, result.Error())
	cancel()
	_, err = result.Raw()
	require.ErrorIs(t, err, context.Canceled)
}

// If a Result could pass its objects to a reflector, its other methods work as usual.
func TestOtherMethodsOfAResultReadTheWholeBody(t *testing.T) {
	server := serverWithPods(t)
	client := clientOf(t, configOf(server.URL(), runtime.ContentTypeJSON))
	want, err := client.Get().Resource("pods").Do(t.Context()).Raw()
	require.NoError(t, err)
	result := client.Get().Resource("pods").Do(sink.With(t.Context(), &sink.Sink{}))
	var code int
	require.Equal(t, 200, func() int { result.StatusCode(&code); return code }())
	for range 2 {
		got, err := result.Raw()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	var filled corev1.PodList
	require.NoError(t, result.Into(&filled))
	require.Len(t, filled.Items, somePods)

	result = client.Get().Resource("pods").Do(sink.With(t.Context(), &sink.Sink{}))
	require.NoError(t, result.Into(&corev1.PodList{}))
	require.Error(t, result.Into(&corev1.PodList{}), "the reflector owns the objects, so a second Into fails")
}

// Pull returns the same events as ResultChan.
func TestPullReturnsTheEventsOfResultChan(t *testing.T) {
	for _, contentType := range encodings {
		t.Run(contentType, func(t *testing.T) {
			server := serverWithPods(t)
			client := clientOf(t, configOf(server.URL(), contentType))
			opts := metav1.ListOptions{Watch: true, ResourceVersion: "0"}
			open := func() watch.Interface {
				w, err := client.Get().Resource("pods").VersionedParams(&opts, parameter).Watch(t.Context())
				require.NoError(t, err)
				return w
			}
			pushed, pulled := open(), open()
			defer pushed.Stop()
			stream := pulled.(sink.Puller).Pull(listwatch.WatchOptions{}, sink.Owned)
			require.NotNil(t, stream)
			for range somePods {
				want := <-pushed.ResultChan()
				got, err := stream.Next()
				require.NoError(t, err)
				require.Equal(t, string(want.Type), got.Type.String())
				require.Equal(t, want.Object, got.Object)
			}
			require.Nil(t, pushed.(sink.Puller).Pull(listwatch.WatchOptions{}, sink.Owned), "Pull returns nil after ResultChan was called")
			server.DropWatches("pods")
			_, err := stream.Next()
			require.Equal(t, io.EOF, err, "a lost connection ends the watch without an error")
			require.NoError(t, stream.Close())
		})
	}
}

// Events that cannot be pulled come from ResultChan, with client-go's errors.
func TestEventsComeFromResultChanIfTheyCannotBePulled(t *testing.T) {
	for name, body := range map[string]string{
		"an error":   `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":410,"reason":"Expired"}}`,
		"a stranger": `{"type":"ADDED","object":{"kind":"Stranger","apiVersion":"v1","metadata":{"name":"x"}}}`,
		"garbage":    `garbage`,
		"nothing":    ``,
	} {
		t.Run(name, func(t *testing.T) {
			server := serverWithPods(t)
			server.Inject(apitest.Fault{Verb: "watch", Resource: "pods", Action: apitest.Body(200, runtime.ContentTypeJSON, body)})
			client := clientOf(t, configOf(server.URL(), runtime.ContentTypeJSON))
			open := func() watch.Interface {
				w, err := client.Get().Resource("pods").Param("watch", "true").Watch(t.Context())
				require.NoError(t, err)
				return w
			}
			w, plain := open(), open()
			stream := w.(sink.Puller).Pull(listwatch.WatchOptions{}, sink.Owned)
			require.NotNil(t, stream)
			_, err := stream.Next()
			require.Equal(t, sink.ErrPush, err)
			require.Equal(t, <-plain.ResultChan(), <-w.ResultChan())
			require.NoError(t, stream.Close())
			plain.Stop()
		})
	}
}
