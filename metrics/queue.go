package metrics

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/hooks"
	"github.com/kinform/kinform/workqueue"
)

var queueMetrics = func() snapshotMetrics[workqueue.Stats] {
	r := snapshotMetrics[workqueue.Stats]{part: []string{"queue"}}
	r.gauges("kinform_workqueue_ready_keys", "How many keys wait for a worker, by priority.",
		func(s workqueue.Stats, set func(float64, ...string)) {
			zero := false
			for _, l := range s.Levels {
				set(float64(l.Ready), strconv.Itoa(l.Priority))
				zero = zero || l.Priority == 0
			}
			if !zero {
				set(0, "0")
			}
		}, "priority")
	r.gauge("kinform_workqueue_delayed_keys", "How many keys wait for the end of a delay.", func(s workqueue.Stats) float64 { return float64(s.Delayed) })
	r.gauge("kinform_workqueue_parked_keys", "How many keys are parked, for example until a cache has received a write.", func(s workqueue.Stats) float64 { return float64(s.Parked) })
	r.gauge("kinform_workqueue_processing_keys", "How many keys are with a worker.", func(s workqueue.Stats) float64 { return float64(s.Processing) })
	r.gauge("kinform_workqueue_dirty_keys", "How many keys need a reconcile that has not begun, whether the key is ready or not.", func(s workqueue.Stats) float64 { return float64(s.Dirty) })
	r.gauge("kinform_workqueue_workers", "How many workers the queue has; 0 while no Run is in progress.", func(s workqueue.Stats) float64 { return float64(s.Workers) })
	r.gauge("kinform_workqueue_oldest_ready_seconds", "The longest time that a ready key has waited for a worker; 0 if no key waits.",
		func(s workqueue.Stats) float64 { return s.OldestReady.Seconds() })
	r.gauge("kinform_workqueue_longest_running_seconds", "The longest time that a key has been with a worker; 0 if all workers are idle.",
		func(s workqueue.Stats) float64 { return s.LongestRunning.Seconds() })
	r.gauge("kinform_workqueue_unfinished_seconds", "The sum of the times for which keys have been with a worker.",
		func(s workqueue.Stats) float64 { return s.Unfinished.Seconds() })
	r.gauge("kinform_workqueue_shutting_down", "Whether the queue is shutting down: 1, or 0.", func(s workqueue.Stats) float64 { return boolValue(s.ShuttingDown) })
	r.counter("kinform_workqueue_adds_total", "Keys that became dirty.", func(s workqueue.Stats) uint64 { return s.Adds })
	r.counter("kinform_workqueue_merged_total", "Adds of keys that were dirty already.", func(s workqueue.Stats) uint64 { return s.Merged })
	r.counter("kinform_workqueue_retries_total", "Adds with a delay, those after a failure included.", func(s workqueue.Stats) uint64 { return s.Retries })
	r.counter("kinform_workqueue_gets_total", "Keys that were handed to workers.", func(s workqueue.Stats) uint64 { return s.Gets })
	r.counter("kinform_workqueue_dones_total", "Keys that workers have finished (calls of Done).", func(s workqueue.Stats) uint64 { return s.Dones })
	r.counters("kinform_workqueue_reconciles_total", "Reconciles of Run that have ended, by result.",
		func(s workqueue.Stats, set func(float64, ...string)) {
			set(float64(s.Outcomes.Succeeded), "success")
			set(float64(s.Outcomes.RequeuedAfter), "requeue_after")
			set(float64(s.Outcomes.RequeuedWhen), "requeue_when")
			set(float64(s.Outcomes.Retried), "retry")
			set(float64(s.Outcomes.Dropped), "terminal")
			set(float64(s.Outcomes.Interrupted), "interrupted")
		}, "result")
	r.counter("kinform_workqueue_panics_total", "Reconciles that panicked.", func(s workqueue.Stats) uint64 { return s.Panics })
	r.counter("kinform_workqueue_hook_panics_total", "Calls of observers, rate limiters and other functions of the program that panicked.", func(s workqueue.Stats) uint64 { return s.HookPanics })
	r.counters("kinform_workqueue_lost_total", "Adds that a shutdown refused; delays and parked keys that a shutdown discarded; calls of Cancel; and the reconciles that were dropped among all these.",
		func(s workqueue.Stats, set func(float64, ...string)) {
			set(float64(s.Refused), "refused")
			set(float64(s.Discarded), "discarded")
			set(float64(s.Cancelled), "cancelled")
			set(float64(s.Dropped), "dropped")
		}, "how")
	r.counter("kinform_workqueue_stray_dones_total", "Calls of Done for keys that were with no worker: each is a bug of a worker.", func(s workqueue.Stats) uint64 { return s.StrayDones })
	return r
}()

// Queue adds a queue, such as a *workqueue.Queue of any type. The label "queue" has the queue's
// Name.
//
// Histograms also need an observer: see [QueueObserver].
func (m *Metrics) Queue(q interface{ Stats() workqueue.Stats }) (remove func()) {
	depth := newClientGoDepth()
	return m.add(func(c *scrapeState) { m.collectQueue(c, q.Stats(), depth) })
}

func (m *Metrics) collectQueue(c *scrapeState, s workqueue.Stats, depth *clientGoDepth) {
	labels, ok := c.part("queue", s.Name)
	if !ok {
		return
	}
	queueMetrics.emit(c, s, labels)
	if m.opts.ClientGoNames {
		clientGoQueueMetrics.emit(c, clientGoQueue{s, depth}, []string{labels[0], labels[0]})
	}
}

// QueueObserver returns an observer for the histograms of a queue: the wait of keys, and the
// duration of reconciles. It also calls the observer next. The value of the label "queue" is the
// argument name, which should be the Name of the queue.
//
// An observed key costs no allocation. A queue with an observer measures the times of reconciles;
// see workqueue.Options.Timed.
func QueueObserver[K comparable](m *Metrics, name string, next *workqueue.Observer[K]) *workqueue.Observer[K] {
	return observeQueue(m.queueTimes(name), next)
}

func observeQueue[K comparable](times *queueTimes, next *workqueue.Observer[K]) *workqueue.Observer[K] {
	waiting, running := keyTraces[K](times.waiting), keyTraces[K](times.running)
	o := hooks.CopyOf(next)
	o.OnGet = hooks.Chain(func(item workqueue.Item[K]) { times.wait.observe(item.Waited, waiting(item.Key)) }, o.OnGet)
	o.OnDone = hooks.Chain2(func(key K, ran time.Duration) { times.run.observe(ran, running(key)) }, o.OnDone)
	return o
}

// queueTimes has the histograms of one queue. The functions waiting and running return the traces
// of its keys. They are nil without Options.Traces.
type queueTimes struct {
	wait, run        histograms
	waiting, running func(types.NamespacedName) string
}

func (m *Metrics) queueTimes(name string) *queueTimes {
	v := &m.observers
	t := &queueTimes{}
	if m.opts.Traces != nil {
		t.waiting, t.running = m.opts.Traces.TracesOfReconciles(name)
	}
	name = v.named("queue", name)
	t.wait, t.run = histograms{v.queueWait.WithLabelValues(name)}, histograms{v.queueRun.WithLabelValues(name)}
	if m.opts.ClientGoNames {
		t.wait = append(t.wait, v.clientGo.queueDuration.WithLabelValues(name, name))
		t.run = append(t.run, v.clientGo.workDuration.WithLabelValues(name, name))
	}
	return t
}
