package rest_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	scheme = func() *runtime.Scheme {
		s := runtime.NewScheme()
		metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
		if err := corev1.AddToScheme(s); err != nil {
			panic(err)
		}
		return s
	}()
	codecs    = serializer.NewCodecFactory(scheme)
	parameter = runtime.NewParameterCodec(scheme)
)

// configOf returns the configuration of a typed client of core/v1.
func configOf(host, contentType string) *rest.Config {
	config := &rest.Config{Host: host, APIPath: "/api", QPS: -1}
	config.GroupVersion = &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = codecs.WithoutConversion()
	config.ContentType = contentType
	return config
}

// clientOf returns a client with its own connections.
func clientOf(t *testing.T, config *rest.Config) *rest.RESTClient {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	config.Transport = transport
	client, err := rest.RESTClientFor(config)
	require.NoError(t, err)
	return client
}

func TestVerbsOverAServer(t *testing.T) {
	for _, contentType := range []string{"", runtime.ContentTypeProtobuf} {
		t.Run(contentType, func(t *testing.T) {
			server := apitest.Start(t, apitest.Options{})
			client := clientOf(t, configOf(server.URL(), contentType))
			ctx := t.Context()

			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}},
			}
			var made corev1.Pod
			created := false
			require.NoError(t, client.Post().Namespace("default").Resource("pods").Body(pod).Do(ctx).WasCreated(&created).Into(&made))
			require.True(t, created)
			require.NotEmpty(t, made.UID)
			require.Empty(t, made.Kind, "typed objects have no kind")

			err := client.Post().Namespace("default").Resource("pods").Body(pod).Do(ctx).Error()
			require.True(t, apierrors.IsAlreadyExists(err), "%v", err)

			var got corev1.Pod
			require.NoError(t, client.Get().Namespace("default").Resource("pods").Name("web").
				VersionedParams(&metav1.GetOptions{}, parameter).Do(ctx).Into(&got))
			require.Equal(t, made.UID, got.UID)

			events, err := client.Get().Namespace("default").Resource("pods").
				VersionedParams(&metav1.ListOptions{Watch: true, ResourceVersion: made.ResourceVersion}, parameter).Watch(ctx)
			require.NoError(t, err)
			defer func() {
				events.Stop()
				for range events.ResultChan() { //nolint:revive // until it is closed
				}
			}()

			got.Labels["tier"] = "front"
			var updated corev1.Pod
			require.NoError(t, client.Put().Namespace("default").Resource("pods").Name("web").Body(&got).Do(ctx).Into(&updated))
			require.Equal(t, "front", updated.Labels["tier"])
			event := <-events.ResultChan()
			require.Equal(t, watch.Modified, event.Type)
			require.Equal(t, updated.ResourceVersion, event.Object.(*corev1.Pod).ResourceVersion)

			updated = corev1.Pod{} // a new object, because JSON is merged into existing values
			require.NoError(t, client.Patch(types.MergePatchType).Namespace("default").Resource("pods").Name("web").
				Body([]byte(`{"metadata":{"labels":{"tier":null}}}`)).Do(ctx).Into(&updated))
			require.NotContains(t, updated.Labels, "tier")

			var list corev1.PodList
			require.NoError(t, client.Get().Namespace("default").Resource("pods").
				VersionedParams(&metav1.ListOptions{LabelSelector: "app=web"}, parameter).Do(ctx).Into(&list))
			require.Len(t, list.Items, 1)
			require.NotEmpty(t, list.ResourceVersion)

			require.NoError(t, client.Delete().Namespace("default").Resource("pods").Name("web").Body(&metav1.DeleteOptions{}).Do(ctx).Error())
			err = client.Get().Namespace("default").Resource("pods").Name("gone").Do(ctx).Into(&got)
			require.True(t, apierrors.IsNotFound(err), "%v", err)
			require.EqualError(t, err, `pods "gone" not found`)
		})
	}
}

// newTestClient returns a client of a server whose handler is fn.
func newTestClient(t *testing.T, fn http.HandlerFunc) *rest.RESTClient {
	t.Helper()
	server := httptest.NewServer(fn)
	t.Cleanup(server.Close)
	return clientOf(t, configOf(server.URL, ""))
}

// RS-8.
func TestRetryAfterIsHonored(t *testing.T) {
	var calls atomic.Int32
	client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		if string(body) != "text" {
			t.Errorf("the body was %q, want \"text\"", body)
		}
		if calls.Add(1) < 3 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = w.Write([]byte("done"))
	})
	body, err := client.Post().AbsPath("/x").Body([]byte("text")).DoRaw(t.Context())
	require.NoError(t, err)
	require.Equal(t, "done", string(body))
	require.EqualValues(t, 3, calls.Load())

	calls.Store(0)
	_, err = client.Post().AbsPath("/x").MaxRetries(1).Body([]byte("text")).DoRaw(t.Context())
	require.True(t, apierrors.IsTooManyRequests(err), "%v", err)
	require.EqualValues(t, 2, calls.Load())

	calls.Store(0)
	_, err = client.Post().AbsPath("/x").Body(strings.NewReader("text")).DoRaw(t.Context())
	require.True(t, apierrors.IsTooManyRequests(err), "RS-11: a request with a reader is sent once: %v", err)
	require.EqualValues(t, 1, calls.Load())
}

// RS-8.
func TestFailureWithoutRetryAfterIsFinal(t *testing.T) {
	var calls atomic.Int32
	client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) {
		calls.Add(1)
		http.Error(w, "out of order", http.StatusServiceUnavailable)
	})
	err := client.Get().Resource("pods").Name("web").Do(t.Context()).Error()
	require.True(t, apierrors.IsServiceUnavailable(err), "%v", err)
	require.True(t, apierrors.IsUnexpectedServerError(err))
	require.EqualValues(t, 1, calls.Load())
	var failed *apierrors.StatusError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "out of order", failed.ErrStatus.Details.Causes[0].Message)
}

// RS-9.
func TestGetIsRetriedAfterALostConnection(t *testing.T) {
	var calls atomic.Int32
	client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) {
		if calls.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte("done"))
	})
	backoff := &countingBackoff{}
	_, err := client.Get().AbsPath("/x").BackOffWithContext(backoff).DoRaw(t.Context())
	require.NoError(t, err)
	require.Equal(t, []time.Duration{0, time.Second}, backoff.slept)

	calls.Store(0)
	_, err = client.Post().AbsPath("/x").BackOffWithContext(backoff).Body([]byte("x")).DoRaw(t.Context())
	require.Error(t, err)
	require.EqualValues(t, 1, calls.Load())
}

// countingBackoff is a back-off that does not wait, and counts the requested waits.
type countingBackoff struct {
	rest.NoBackoff
	slept []time.Duration
}

func (c *countingBackoff) SleepWithContext(_ context.Context, d time.Duration) {
	c.slept = append(c.slept, d)
}

// RS-1, RS-5.
func TestAddresses(t *testing.T) {
	base := &url.URL{Scheme: "https", Host: "h", Path: "/prefix"}
	client, err := rest.NewRESTClient(base, "/api/v1", rest.ClientContentConfig{}, nil, nil)
	require.NoError(t, err)
	for want, request := range map[string]*rest.Request{
		"https://h/prefix/api/v1/namespaces/ns/pods/p/log/x?a=1&a=2": client.Get().Namespace("ns").Resource("PODS").Name("p").SubResource("log").Suffix("x").Param("a", "1").Param("a", "2"),
		"https://h/prefix/api/v1/pods":                               client.Get().Namespace("").Resource("pods"),
		"https://h/prefix/apis/":                                     client.Get().AbsPath("/apis/"),
		"https://h/prefix/apis/x":                                    client.Get().AbsPath("/apis", "x/"),
		"https://h/prefix/other?b=2":                                 client.Get().Param("a", "1").RequestURI("/other?b=2"),
		"https://h/prefix/api/v1/proxy/nodes?timeout=5s":             client.Get().Prefix("proxy").Resource("nodes").Timeout(5 * time.Second),
	} {
		require.NoError(t, request.Error())
		require.Equal(t, want, request.URL().String())
	}
}

// RS-2, RS-3, RS-4.
func TestTheFirstErrorOfARequestIsReturned(t *testing.T) {
	client, err := rest.NewRESTClient(&url.URL{Scheme: "https", Host: "h"}, "/api/v1", rest.ClientContentConfig{}, nil, nil)
	require.NoError(t, err)
	for want, request := range map[string]*rest.Request{
		"already set":                                    client.Get().Namespace("a").Namespace("b"),
		"resource already set":                           client.Get().Resource("a").Resource("b").Name("%"),
		"may not contain '/'":                            client.Get().Name("a/b"),
		"may not be '..'":                                client.Get().SubResource(".."),
		"resource name may not be empty":                 client.Get().Name(""),
		"empty namespace may not be set during creation": client.Post().Namespace(""),
		"when a resource name is provided":               client.Get().Namespace("").Name("x"),
		"unknown type used for body":                     client.Post().Body(3),
		"no such file":                                   client.Post().Body("no-such-file-anywhere"),
	} {
		require.ErrorContains(t, request.Do(t.Context()).Error(), want)
	}
}

// RS-18.
func TestIntoOfAnEmptyResponseIsAnError(t *testing.T) {
	client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Add("Warning", `299 - "old"`)
	})
	warnings := &warningRecorder{}
	result := client.Get().AbsPath("/x").WarningHandler(warnings).Do(t.Context())
	require.ErrorContains(t, result.Into(&corev1.Pod{}), "0-length response")
	require.Equal(t, []string{"old"}, warnings.texts)
	require.Len(t, result.Warnings(), 1)
}

type warningRecorder struct{ texts []string }

func (h *warningRecorder) HandleWarningHeader(code int, agent string, text string) {
	h.texts = append(h.texts, text)
}

// RS-15.
func TestWatchOfALostConnectionIsEmpty(t *testing.T) {
	client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) { panic(http.ErrAbortHandler) })
	events, err := client.Get().AbsPath("/x").MaxRetries(2).BackOffWithContext(&countingBackoff{}).Watch(t.Context())
	require.NoError(t, err)
	_, open := <-events.ResultChan()
	require.False(t, open)
}

// RS-21, RS-22.
func TestUndecodableWatchEndsWithAnError(t *testing.T) {
	client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}}` + "\n" + `{"type":"ODD","object":{}}` + "\n"))
	})
	events, err := client.Get().AbsPath("/x").Watch(t.Context())
	require.NoError(t, err)
	require.Equal(t, watch.Added, (<-events.ResultChan()).Type)
	last := <-events.ResultChan()
	require.Equal(t, watch.Error, last.Type)
	require.EqualValues(t, 500, last.Object.(*metav1.Status).Code)
	_, open := <-events.ResultChan()
	require.False(t, open)
}

// RS-16.
func TestEndedContextSendsNothing(t *testing.T) {
	client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) { t.Error("the request must not be sent") })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, client.Get().AbsPath("/x").Do(ctx).Error(), context.Canceled)
	_, err := client.Get().AbsPath("/x").Stream(ctx)
	require.ErrorIs(t, err, context.Canceled)
}
