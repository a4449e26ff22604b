package conformance

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clientrest "k8s.io/client-go/rest"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

// These tests compare how both clients handle the responses of one server. Each test shows what
// client-go does, and what kinform does instead.

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// both returns a client of each side, for a server with this handler.
func both(t *testing.T, handler http.HandlerFunc, timeout time.Duration) (*rest.Resource[*corev1.Pod], kubernetes.Interface) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := rest.NewClient(rest.Config{Host: server.URL, HeaderTimeout: timeout}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	theirs, err := kubernetes.NewForConfigAndClient(&clientrest.Config{Host: server.URL, Timeout: timeout}, &http.Client{Transport: transport, Timeout: timeout})
	require.NoError(t, err)
	return rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{Namespace: "ns"})), theirs
}

func TestRetryAfterAsADate(t *testing.T) { // D20, RS-8
	t.Parallel()
	var asked atomic.Int32
	ours, theirs := both(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.Header().Set("Retry-After", time.Now().Add(time.Second).UTC().Format(http.TimeFormat))
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"ns"}}`))
	}, 0)
	_, err := theirs.CoreV1().Pods("ns").Get(t.Context(), "a", metav1.GetOptions{})
	require.Error(t, err, "client-go does not retry")
	asked.Store(0)
	pod, err := ours.Get(t.Context(), types.NamespacedName{Namespace: "ns", Name: "a"}, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "a", pod.Name)
}

func TestAWatchWhoseConnectionIsAborted(t *testing.T) { // D19, RS-15
	t.Parallel()
	ours, theirs := both(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0)
	_, err := ours.Watch(t.Context(), listwatch.WatchOptions{})
	require.Error(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	watch, err := theirs.CoreV1().Pods("ns").Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err, "client-go reports an empty watch after ten attempts")
	_, open := <-watch.ResultChan()
	require.False(t, open)
	require.NoError(t, ctx.Err())
}

func TestTheClientTimeoutOfAWatch(t *testing.T) { // D21
	t.Parallel()
	ours, theirs := both(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(8 * time.Second):
			_, _ = w.Write([]byte(`{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7"}}}` + "\n"))
		case <-r.Context().Done():
		}
	}, 5*time.Second)
	stream, err := ours.Watch(t.Context(), listwatch.WatchOptions{})
	require.NoError(t, err)
	event, err := stream.Next()
	require.NoError(t, err)
	require.Equal(t, "7", event.ResourceVersion)
	require.NoError(t, stream.Close())

	watch, err := theirs.CoreV1().Pods("ns").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	_, open := <-watch.ResultChan()
	require.False(t, open, "client-go's time limit ends the watch")
}
