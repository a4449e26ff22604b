package metrics

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

func keyOf(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "web", Name: name}
}

// newMetrics returns a collector and the registry in which it is registered.
func newMetrics(t *testing.T, opts Options) (*Metrics, *prometheus.Registry) {
	t.Helper()
	m, err := New(opts)
	require.NoError(t, err)
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(m))
	return m, registry
}

type fakeInformer informer.Status

func (f fakeInformer) Status() informer.Status { return informer.Status(f) }

type fakeQueue workqueue.Stats

func (f fakeQueue) Stats() workqueue.Stats { return workqueue.Stats(f) }

// emptyStore is a consumer without objects.
type emptyStore struct{}

func (emptyStore) LastApplied(types.NamespacedName) (*configMap, string, uint64, bool) {
	return nil, "", 0, false
}
func (emptyStore) AllKeys() iter.Seq[types.NamespacedName] {
	return func(func(types.NamespacedName) bool) {}
}

// Each stage can be added separately, and removed again.
func TestPartsWithoutAnInformer(t *testing.T) {
	t.Parallel()
	m, registry := newMetrics(t, Options{})
	store, err := indexer.New(indexer.Options[*configMap]{})
	require.NoError(t, err)
	fifo := deltafifo.New(emptyStore{}, deltafifo.Options{Observer: m.FIFOObserver("alone", nil)})
	var remove []func()
	remove = append(remove, m.Store("alone", store), m.FIFO("alone", fifo))
	queue := workqueue.New(workqueue.Options[string]{Name: "alone", Observer: QueueObserver[string](m, "alone", nil)})
	remove = append(remove, m.Queue(queue))
	queue.Add("a")
	now := scrape(t, registry)
	require.Equal(t, 0.0, now[`kinform_store_objects{informer="alone",selection=""}`])
	require.Contains(t, now, `kinform_deltafifo_keys{informer="alone",selection=""}`)
	require.Equal(t, 1.0, now[`kinform_workqueue_ready_keys{priority="0",queue="alone"}`])
	for _, f := range remove {
		f()
		f()
	}
	for series := range scrape(t, registry) {
		require.NotContains(t, series, "_keys{")
		require.NotContains(t, series, "kinform_store")
	}
}

// No name and no number of parts makes a scrape fail.
func TestScrapesSucceedWithAnyPartNames(t *testing.T) {
	t.Parallel()
	m, registry := newMetrics(t, Options{MaxParts: 3, ClientGoNames: true})
	handlers := []informer.HandlerStatus{{Name: "same"}, {Name: "same", Waiting: 2}, {Name: "same~2"}, {Name: "too many"}}
	m.Informer(fakeInformer{Name: "pods", Handlers: handlers})
	m.Informer(fakeInformer{Name: "pods", Synced: true})
	m.Informer(fakeInformer{Name: "\xff" + strings.Repeat("ä", 1000)})
	m.Informer(fakeInformer{Name: "too many"})
	m.Queue(fakeQueue{Name: "same"})
	m.Queue(fakeQueue{Name: "same", Levels: []workqueue.Level{{Priority: 4}, {Priority: 3}, {Priority: 2}, {Priority: 1}}})
	now := scrape(t, registry)
	require.Equal(t, 0.0, now[`kinform_informer_synced{informer="pods",selection=""}`])
	require.Equal(t, 1.0, now[`kinform_informer_synced{informer="pods~2",selection=""}`])
	require.Equal(t, 2.0, now[`kinform_handler_waiting_events{handler="same~2",informer="pods",selection=""}`])
	require.Contains(t, now, `kinform_handler_waiting_events{handler="same~2~2",informer="pods",selection=""}`)
	require.NotContains(t, now, `kinform_handler_waiting_events{handler="too many",informer="pods",selection=""}`)
	require.Contains(t, now, `kinform_workqueue_ready_keys{priority="2",queue="same~2"}`)
	require.NotContains(t, now, `kinform_workqueue_ready_keys{priority="1",queue="same~2"}`)
	require.Contains(t, now, `workqueue_depth{controller="same~2",name="same~2",priority="0"}`)
	require.Equal(t, 6.0, now[`kinform_metrics_left_out{}`], "left out: a handler, an informer, and two of five priorities in each of two metrics of a queue")
}

// If a server or a program chooses the values of a label, their number is limited.
func TestLabelsOfResponsesAreBounded(t *testing.T) {
	t.Parallel()
	m, registry := newMetrics(t, Options{MaxParts: 4, ClientGoNames: true})
	observed := 0
	o := m.ClientObserver("c", &rest.Observer{OnResponse: func(rest.ResponseInfo) { observed++ }})
	for code := 200; code < 300; code++ {
		for i := range 10 {
			a := rest.ResponseInfo{Method: "GET", URL: fmt.Sprintf("https://host-%d:6443/api/v1/namespaces/secret-name/pods/secret-name?x=secret-name", i), StatusCode: code}
			a.Verb, a.Resource.Resource = "get", fmt.Sprint("resource-", i)
			o.OnResponse(a)
		}
	}
	require.Equal(t, 1000, observed)
	now := scrape(t, registry)
	var own, familiar float64
	n := 0
	for series, value := range now {
		require.NotContains(t, series, "secret-name")
		switch {
		case strings.HasPrefix(series, "kinform_client_responses_total"):
			own += value
			n++
		case strings.HasPrefix(series, "rest_client_requests_total"):
			familiar += value
			n++
		}
	}
	require.Equal(t, 1000.0, own)
	require.Equal(t, 1000.0, familiar)
	require.Equal(t, 10, n, "each metric has four codes, and one series for all others")
	require.Equal(t, 996.0, now[`kinform_client_responses_total{client="c",code="other",resource="other",verb="other"}`])
	require.Contains(t, now, `rest_client_requests_total{code="200",host="host-1:6443",method="GET"}`)
	require.Positive(t, now[`kinform_metrics_left_out{}`])
}

// Observers that are already set are called as well.
func TestObserversAreChained(t *testing.T) {
	t.Parallel()
	m, registry := newMetrics(t, Options{})
	var calls []string
	record := func(what string) { calls = append(calls, what) }
	opts := InformerOptions(m, informer.Options[*configMap]{
		Name:      "maps",
		Observer:  &informer.Observer{OnDeliver: func(informer.DeliverInfo) { record("delivered") }},
		Reflector: reflector.Options{Observer: &reflector.Observer{OnPhase: func(reflector.PhaseChange) { record("phase") }, OnWait: nil}},
		Queue:     deltafifo.Options{Observer: &deltafifo.Observer{OnBatch: func(deltafifo.BatchInfo) { record("batch") }}},
	})
	opts.Observer.OnDeliver(informer.DeliverInfo{Handler: "h"})
	opts.Reflector.Observer.OnPhase(reflector.PhaseChange{From: reflector.Watching, To: reflector.BackingOff, Cause: reflector.ErrIdle})
	opts.Queue.Observer.OnBatch(deltafifo.BatchInfo{})
	q := QueueObserver(m, "q", &workqueue.Observer[string]{
		OnGet: func(workqueue.Item[string]) { record("got") }, OnAdd: func(string) { record("added") },
	})
	q.OnAdd("a")
	q.OnGet(workqueue.Item[string]{})
	q.OnDone("a", 0)
	require.Equal(t, []string{"delivered", "phase", "batch", "added", "got"}, calls)
	require.Equal(t, 1.0, scrape(t, registry)[`kinform_reflector_failures_total{informer="maps",phase="watching",reason="idle"}`])
}

// If a queue reports no keys by priority, or too many priorities, client-go's metric of the depth
// has one series for all keys. controller-runtime's metric does the same.
func TestClientGoDepth(t *testing.T) {
	t.Parallel()
	m, registry := newMetrics(t, Options{ClientGoNames: true})
	s := &workqueue.Stats{Name: "q", Dirty: 7, Levels: []workqueue.Level{{Priority: 5, Ready: 2}, {Priority: 0, Ready: 3}}}
	m.Queue(changing{s})
	require.Equal(t, map[string]float64{"5": 2, "0": 5}, depths(t, registry), "the two dirty keys that are not ready count as priority 0")
	s.Dirty, s.Levels = 0, nil
	require.Equal(t, map[string]float64{"5": 0, "0": 0}, depths(t, registry), "a priority that was used once stays")
	for priority := range 30 {
		s.Levels = append(s.Levels, workqueue.Level{Priority: priority, Ready: 1})
	}
	s.Dirty = 30
	require.Equal(t, map[string]float64{"exceeded_cardinality_limit": 30}, depths(t, registry))
}

type changing struct{ now *workqueue.Stats }

func (c changing) Stats() workqueue.Stats { return *c.now }

func depths(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	found := map[string]float64{}
	for series, value := range scrape(t, registry) {
		if _, after, ok := strings.Cut(series, `workqueue_depth{controller="q",name="q",priority="`); ok {
			found[strings.TrimSuffix(after, `"}`)] = value
		}
	}
	return found
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for _, wrong := range []Options{{MaxParts: -1}, {Buckets: []float64{1, 1}}} {
		_, err := New(wrong)
		require.Error(t, err)
	}
}

// If there are too many parts of one kind, all further parts share a name in histograms. Each kind
// is counted separately.
func TestNamesOfHistogramsAreBounded(t *testing.T) {
	t.Parallel()
	m, registry := newMetrics(t, Options{MaxParts: 2, ClientGoNames: true})
	for _, name := range []string{"a", "b", "c", "d", "a"} {
		QueueObserver[string](m, name, nil).OnDone("key", 0)
		m.FIFOObserver(name, nil).OnBatch(deltafifo.BatchInfo{})
		m.ElectorObserver(name, nil).OnAttempt(0, nil)
		m.RecorderObserver(name, nil).OnRequest(keyOf("a"), true, 0, nil)
		m.ClientObserver(name, nil).OnWarning("")
	}
	now := scrape(t, registry)
	for series, want := range map[string]float64{
		`kinform_workqueue_run_seconds_count{queue="a"}`:                          2,
		`kinform_workqueue_run_seconds_count{queue="b"}`:                          1,
		`kinform_workqueue_run_seconds_count{queue="other"}`:                      2,
		`workqueue_work_duration_seconds_count{controller="other",name="other"}`:  2,
		`kinform_deltafifo_wait_seconds_count{informer="other"}`:                  2,
		`kinform_lease_attempt_seconds_count{lease="other",result="success"}`:     2,
		`kinform_events_request_seconds_count{recorder="other",result="success"}`: 2,
		`kinform_client_warnings_total{client="other"}`:                           2,
		`kinform_metrics_left_out{}`:                                              5 * 2,
	} {
		require.Equal(t, want, now[series], series)
	}
	require.NotContains(t, now, `kinform_workqueue_run_seconds_count{queue="c"}`)
}
