package view

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

var silent = slog.New(slog.DiscardHandler)

// rig is a whole pipeline with an API server in the same process, and a view served over HTTP.
type rig struct {
	server   *apitest.Server
	view     *View
	informer *informer.Informer[*corev1.Pod]
	queue    *workqueue.Queue[types.NamespacedName]
	url      string // address of the page, with a trailing slash
}

// start runs a pipeline with this number of pods. The argument reconcile may be nil.
func start(t testing.TB, opts Options, pods int, reconcile func(context.Context, types.NamespacedName) error) *rig {
	t.Helper()
	r := &rig{server: apitest.New(apitest.Options{})}
	t.Cleanup(r.server.Close)
	require.NoError(t, r.server.Listen("127.0.0.1:0"))
	require.NoError(t, apitest.Populate(r.server, apitest.Pods(pods, apitest.PodOptions{Namespaces: 3})))
	if opts.Server == nil {
		opts.Server = func() Server { return Server{ResourceVersion: r.server.ResourceVersion(), Objects: -1} }
	}
	var err error
	r.view, err = New(opts)
	require.NoError(t, err)
	client, err := rest.NewClient(rest.Config{Host: r.server.URL()}, rest.Options{Logger: silent})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	source, err := rest.For[*corev1.Pod](client, rest.ResourceOptions{})
	require.NoError(t, err)
	r.informer, err = informer.New(source, InformerOptions(r.view, informer.Options[*corev1.Pod]{Name: "pods", Logger: silent}))
	require.NoError(t, err)
	r.queue = workqueue.New(QueueOptions(r.view, workqueue.Options[types.NamespacedName]{Name: "pods", Logger: silent}))
	_, err = r.informer.AddHandler(enqueue.Object[*corev1.Pod](r.queue), informer.HandlerOptions{Name: "enqueue"})
	require.NoError(t, err)
	Informer(r.view, r.informer)
	Queue(r.view, r.queue, "pods")
	r.view.Client(client)
	if reconcile == nil {
		reconcile = func(context.Context, types.NamespacedName) error { return nil }
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- r.informer.Run(ctx) }()
	go func() { ended <- r.queue.Run(ctx, 4, reconcile) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, <-ended)
	})
	require.NoError(t, r.informer.WaitForSync(ctx))
	served := httptest.NewServer(r.view)
	t.Cleanup(served.Close)
	t.Cleanup(r.view.Close)
	r.url = served.URL + "/"
	return r
}

// stream opens a stream and returns a function that reads its lines.
func (r *rig) stream(t testing.TB, query string) (next func() Line) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"stream"+query, nil)
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	answer, err := transport.RoundTrip(request)
	require.NoError(t, err)
	t.Cleanup(func() { cancel(); answer.Body.Close() })
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	return func() (l Line) {
		t.Helper()
		for lines.Scan() {
			if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
				decoder := json.NewDecoder(bytes.NewReader(data))
				decoder.DisallowUnknownFields()
				require.NoError(t, decoder.Decode(&l))
				return l
			}
		}
		require.FailNow(t, "the stream has ended", "%v", lines.Err())
		return l
	}
}
