package view

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// replay is a server that replays recorded responses of an API server: a list of pods, and a watch
// with many updates. Replaying costs almost no time, so a benchmark measures the pipeline and not
// the server.
type replay struct {
	url         string
	list, watch []byte
	contentType map[bool]string // true: content type of watches; false: of lists
	last        string          // the version of the last update
	updates     int
}

// newReplay records the server's responses in protobuf.
func newReplay(t testing.TB, pods, updates int) *replay {
	server := apitest.New(apitest.Options{Window: 2 * updates})
	t.Cleanup(server.Close)
	require.NoError(t, server.Listen("127.0.0.1:0"))
	require.NoError(t, apitest.Populate(server, apitest.Pods(pods, apitest.PodOptions{})))
	r := &replay{contentType: map[bool]string{}, updates: updates}
	from := server.ResourceVersion()
	ask := func(query, accept string) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"/api/v1/pods?"+query, nil)
		require.NoError(t, err)
		request.Header.Set("Accept", accept)
		answer, err := http.DefaultTransport.RoundTrip(request)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		r.contentType[strings.Contains(query, "watch")] = answer.Header.Get("Content-Type")
		return answer
	}
	const protobuf = "application/vnd.kubernetes.protobuf"
	listed := ask("", protobuf)
	var err error
	r.list, err = io.ReadAll(listed.Body)
	require.NoError(t, err)
	require.NoError(t, listed.Body.Close())
	for n := 0; n < updates; {
		for pod := range apitest.Pods(min(pods, updates-n), apitest.PodOptions{}) {
			pod.Status.ContainerStatuses[0].RestartCount = int32(n + 1)
			apitest.RestartContainer(pod)
			_, err := server.Update(pod)
			require.NoError(t, err)
			n++
		}
	}
	r.last = server.ResourceVersion()
	watched := ask("watch=true&timeoutSeconds=1&resourceVersion="+from, protobuf+";stream=watch")
	r.watch, err = io.ReadAll(watched.Body)
	require.NoError(t, err)
	require.NoError(t, watched.Body.Close())

	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		watch := request.URL.Query().Get("watch") != ""
		w.Header().Set("Content-Type", r.contentType[watch])
		if !watch {
			_, _ = w.Write(r.list)
			return
		}
		_, _ = io.Copy(w, bytes.NewReader(r.watch))
		_ = http.NewResponseController(w).Flush()
		<-request.Context().Done()
	}))
	t.Cleanup(served.Close)
	r.url = served.URL
	return r
}

// run replays the list and the watch to a pipeline, and returns the time from the first request to
// the last update. The argument who is "none" for no view, "nobody" for a view without viewers, and
// "viewer" for a view with a viewer.
func (r *replay) run(b *testing.B, who string) time.Duration {
	client, err := rest.NewClient(rest.Config{Host: r.url}, rest.Options{Logger: silent})
	require.NoError(b, err)
	defer client.Close()
	source, err := rest.For[*corev1.Pod](client, rest.ResourceOptions{})
	require.NoError(b, err)
	opts := informer.Options[*corev1.Pod]{Name: "pods", Logger: silent}
	opts.Reflector.ListMode = reflector.List
	queueing := workqueue.Options[types.NamespacedName]{Name: "pods", Timed: true, Logger: silent}
	v, err := New(Options{})
	require.NoError(b, err)
	if who != "none" {
		opts, queueing = InformerOptions(v, opts), QueueOptions(v, queueing)
	}
	queue := workqueue.New(queueing)
	inf, err := informer.New(source, opts)
	require.NoError(b, err)
	_, err = inf.AddHandler(enqueue.Object[*corev1.Pod](queue), informer.HandlerOptions{Name: "enqueue"})
	require.NoError(b, err)
	Informer(v, inf)
	Queue(v, queue)
	v.Client(client)
	if who == "viewer" {
		startViewer(b, v)
		defer v.Close()
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 2)
	began := time.Now()
	go func() { ended <- inf.Run(ctx) }()
	go func() {
		ended <- queue.Run(ctx, 1, func(context.Context, types.NamespacedName) error { return nil })
	}()
	require.NoError(b, inf.Store().WaitRV(ctx, r.last))
	took := time.Since(began)
	cancel()
	require.NoError(b, <-ended)
	require.NoError(b, <-ended)
	return took
}

// BenchmarkViewOfPods measures the path of one pod update, from protobuf bytes on a socket to the
// store, while keys are reconciled. It compares no view, a view without viewers, and a view with a
// viewer. The three cases alternate, so that the load of the machine affects all of them equally.
// The ratio is a ratio of medians.
func BenchmarkViewOfPods(b *testing.B) {
	played := newReplay(b, 1000, 40_000)
	took := map[string][]float64{}
	for n := 0; b.Loop(); n++ {
		for i := range 3 {
			who := []string{"none", "nobody", "viewer"}[(i+n)%3]
			took[who] = append(took[who], float64(played.run(b, who).Nanoseconds())/float64(played.updates))
		}
	}
	none := median(took["none"])
	b.ReportMetric(none, "ns/event")
	b.ReportMetric(median(took["nobody"])/none, "nobody/none")
	b.ReportMetric(median(took["viewer"])/none, "viewer/none")
}
