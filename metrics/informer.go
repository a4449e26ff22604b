package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/hooks"
	"github.com/kinform/kinform/reflector"
)

// informerPart lists the labels of an informer and of its stages. The label selection describes the
// objects of a factory's informer, and is "" for other informers. It is the first label, because a
// number is appended to the last label if two parts have the same labels.
var informerPart = []string{"selection", "informer"}

var informerMetrics = func() snapshotMetrics[informer.Status] {
	r := snapshotMetrics[informer.Status]{part: informerPart}
	r.gauge("kinform_informer_synced", "Whether the first list is in the store, complete: 1, or 0.",
		func(s informer.Status) float64 { return boolValue(s.Synced) })
	r.counter("kinform_informer_hook_panics_total", "Calls of observers, of all stages, that panicked.",
		func(s informer.Status) uint64 { return s.HookPanics })
	r.gauges("kinform_informer_staleness_seconds", "Time since the last list, event or bookmark from the server. A bookmark comes about once a minute. Absent before the first list.",
		func(s informer.Status, set func(float64, ...string)) {
			if received := lastReceivedAt(s.Reflector); !received.IsZero() {
				set(since(received))
			}
		})
	r.gauge("kinform_informer_undecodable_objects", "How many objects the store lacks, or has in an older state, because they cannot be read or indexed.",
		func(s informer.Status) float64 { return float64(s.Undecodable.Count) })
	r.gauge("kinform_informer_failing_parts", "How many parts of a merged source fail at present.",
		func(s informer.Status) float64 { return float64(len(s.Parts)) })
	return r
}()

// lastReceivedAt returns when the server last sent something, or the zero time.
func lastReceivedAt(s reflector.Status) time.Time {
	if s.LastEventAt.After(s.LastListAt) {
		return s.LastEventAt
	}
	return s.LastListAt
}

var handlerMetrics = func() snapshotMetrics[informer.HandlerStatus] {
	r := snapshotMetrics[informer.HandlerStatus]{part: []string{"selection", "informer", "handler"}}
	r.gauge("kinform_handler_synced", "Whether the handler has returned from every initial add: 1, or 0.",
		func(s informer.HandlerStatus) float64 { return boolValue(s.Synced) })
	r.gauge("kinform_handler_waiting_events", "How many events lie in the mailbox of the handler.",
		func(s informer.HandlerStatus) float64 { return float64(s.Waiting) })
	r.gauge("kinform_handler_oldest_event_seconds", "How long the first event in the mailbox has waited; 0 if the mailbox is empty.",
		func(s informer.HandlerStatus) float64 { return s.Oldest.Seconds() })
	r.counter("kinform_handler_delivered_total", "Calls of the handler that have ended, panics included.",
		func(s informer.HandlerStatus) uint64 { return s.Delivered })
	r.counter("kinform_handler_panics_total", "Calls of the handler that panicked, or ended their goroutine.",
		func(s informer.HandlerStatus) uint64 { return s.Panics })
	r.counter("kinform_handler_coalesced_total", "Events that were merged into others because the mailbox was full.",
		func(s informer.HandlerStatus) uint64 { return s.Coalesced })
	return r
}()

// Informer adds an informer with all of its stages: reflector, queue, store and handlers. The
// argument is an *informer.Informer of any type, or a handle on an informer that a factory shares.
// The label "informer" has the informer's Name. After remove has been called, scrapes no longer
// read the informer.
//
// Histograms also need an observer: see [InformerOptions].
func (m *Metrics) Informer(i interface{ Status() informer.Status }) (remove func()) {
	return m.add(func(c *scrapeState) { collectInformer(c, "", i.Status()) })
}

// Factory adds all informers of a factory, including later ones. The label selection describes the
// objects of each informer, such as "pods in shop". It contains names of objects only if the
// selectors do.
func (m *Metrics) Factory(f interface {
	Status() []informer.SharedStatus
}) (remove func()) {
	return m.add(func(c *scrapeState) { collectFactory(c, f.Status()) })
}

func collectFactory(c *scrapeState, all []informer.SharedStatus) {
	for _, shared := range all {
		collectInformer(c, shared.Selection.String(), shared.Status)
	}
}

func collectInformer(c *scrapeState, selection string, s informer.Status) {
	labels, ok := c.part("informer", selection, s.Name)
	if !ok {
		return
	}
	informerMetrics.emit(c, s, labels)
	reflectorMetrics.emit(c, s.Reflector, labels)
	fifoMetrics.emit(c, s.Queue, labels)
	storeMetrics.emit(c, s.Store, labels)
	for _, h := range s.Handlers {
		if labels, ok := c.part("handlers of "+labels[0]+"\x00"+labels[1], labels[0], labels[1], h.Name); ok {
			handlerMetrics.emit(c, h, labels)
		}
	}
}

// InformerOptions returns opts with observers for the histograms of an informer. They measure lists
// and watches, the wait of changes between reflector and store, the wait of events for handlers,
// and handler calls. The observers also count failures by reason. Observers that are already set
// are called as well.
//
// The observers cost no allocation for an event. With an observer, an informer reads the clock
// twice for each handler call. The label "informer" has opts.Name, which should be set.
func InformerOptions[T any](m *Metrics, opts informer.Options[T]) informer.Options[T] {
	opts.Observer = m.InformerObserver(opts.Name, opts.Observer)
	opts.Reflector.Observer = m.ReflectorObserver(opts.Name, opts.Reflector.Observer)
	opts.Queue.Observer = m.FIFOObserver(opts.Name, opts.Queue.Observer)
	return opts
}

// handlerTimes are the histograms of one handler.
type handlerTimes struct{ wait, run prometheus.Observer }

// InformerObserver returns an observer for the histograms of handlers. It also calls the observer
// next.
func (m *Metrics) InformerObserver(name string, next *informer.Observer) *informer.Observer {
	trace := m.tracesOfEvents(name)
	name = m.observers.named("informer", name)
	handlers := newCappedMap(m.opts.MaxParts, other, func(handler string) handlerTimes {
		return handlerTimes{
			wait: m.observers.handlerWait.WithLabelValues(name, labelValue(handler)),
			run:  m.observers.handlerRun.WithLabelValues(name, labelValue(handler)),
		}
	})
	m.observers.limits.add(handlers)
	o := hooks.CopyOf(next)
	o.OnDeliver = hooks.Chain(func(info informer.DeliverInfo) {
		times, id := handlers.get(info.Handler), trace(info)
		observe(times.wait, info.Waited, id)
		observe(times.run, info.Ran, id)
	}, o.OnDeliver)
	return o
}

var fifoMetrics = func() snapshotMetrics[deltafifo.Stats] {
	r := snapshotMetrics[deltafifo.Stats]{part: informerPart}
	r.gauge("kinform_deltafifo_keys", "How many keys are between reflector and store.",
		func(s deltafifo.Stats) float64 { return float64(s.Keys) })
	r.gauge("kinform_deltafifo_deltas", "How many deltas are between reflector and store.",
		func(s deltafifo.Stats) float64 { return float64(s.Deltas) })
	r.gauge("kinform_deltafifo_oldest_seconds", "The age of the oldest delta between reflector and store; 0 if there is no delta.",
		func(s deltafifo.Stats) float64 { return s.OldestAge.Seconds() })
	r.gauge("kinform_deltafifo_in_flight_keys", "How many keys were handed to the store and are not yet applied.",
		func(s deltafifo.Stats) float64 { return float64(s.InFlight) })
	r.counter("kinform_deltafifo_queued_total", "Deltas that were queued.", func(s deltafifo.Stats) uint64 { return s.Queued })
	r.counter("kinform_deltafifo_batches_total", "Batches that were handed to the store.", func(s deltafifo.Stats) uint64 { return s.Batches })
	r.counter("kinform_deltafifo_replaces_total", "Snapshots that were queued.", func(s deltafifo.Stats) uint64 { return s.Replaces })
	r.counter("kinform_deltafifo_merged_total", "Deltas that were replaced by newer deltas because their key had too many. If this grows, the consumer is too slow.",
		func(s deltafifo.Stats) uint64 { return s.Merged })
	r.counter("kinform_deltafifo_collapsed_total", "Deletes that followed a delete.", func(s deltafifo.Stats) uint64 { return s.Collapsed })
	r.counter("kinform_deltafifo_dropped_total", "Deletes of keys that the consumer never received.", func(s deltafifo.Stats) uint64 { return s.Dropped })
	return r
}()

// FIFO adds a DeltaFIFO that is used without an informer.
func (m *Metrics) FIFO(name string, f interface{ Stats() deltafifo.Stats }) (remove func()) {
	return m.add(func(c *scrapeState) {
		if labels, ok := c.part("fifo", "", name); ok {
			fifoMetrics.emit(c, f.Stats(), labels)
		}
	})
}

// FIFOObserver returns an observer for the histogram of the wait in a DeltaFIFO. It also calls
// next.
func (m *Metrics) FIFOObserver(name string, next *deltafifo.Observer) *deltafifo.Observer {
	wait := m.observers.fifoWait.WithLabelValues(m.observers.named("informer", name))
	o := hooks.CopyOf(next)
	o.OnBatch = hooks.Chain(func(info deltafifo.BatchInfo) { wait.Observe(info.Waited.Seconds()) }, o.OnBatch)
	return o
}

var storeMetrics = func() snapshotMetrics[indexer.Stats] {
	r := snapshotMetrics[indexer.Stats]{part: informerPart}
	r.gauge("kinform_store_objects", "How many objects are stored.", func(s indexer.Stats) float64 { return float64(s.Objects) })
	r.gauge("kinform_store_namespaces", "How many namespaces have objects.", func(s indexer.Stats) float64 { return float64(s.Namespaces) })
	r.gauges("kinform_store_index_values", "How many values of an index are in use.",
		func(s indexer.Stats, set func(float64, ...string)) {
			for _, name := range sortedKeys(s.Indexes) {
				set(float64(s.Indexes[name]), name)
			}
		}, "index")
	r.gauges("kinform_store_resource_version", "The last 15 digits of the resourceVersion up to which the store is complete. Absent if the resourceVersion is not a number.",
		func(s indexer.Stats, set func(float64, ...string)) {
			if n, ok := versionNumber(s.ResourceVersion); ok {
				set(n)
			}
		})
	r.gauge("kinform_store_waiting_readers", "How many readers wait for a resourceVersion.",
		func(s indexer.Stats) float64 { return float64(s.Waiting) })
	r.counters("kinform_store_changes_total", "Objects that were added, updated and deleted.",
		func(s indexer.Stats, set func(float64, ...string)) {
			set(float64(s.Added), "added")
			set(float64(s.Updated), "updated")
			set(float64(s.Deleted), "deleted")
		}, "change")
	r.counter("kinform_store_refused_total", "Changes that were left out because an index function failed.",
		func(s indexer.Stats) uint64 { return s.Failed })
	return r
}()

// Store adds a store, or a reader of a store, that is used without an informer.
func (m *Metrics) Store(name string, s interface{ Stats() indexer.Stats }) (remove func()) {
	return m.add(func(c *scrapeState) {
		if labels, ok := c.part("store", "", name); ok {
			storeMetrics.emit(c, s.Stats(), labels)
		}
	})
}
