package view

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/hooks"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/workqueue"
)

// InformerOptions returns opts with observers for events and times. Observers that are already set
// are called as well. Without InformerOptions, the page shows only the informer's numbers.
//
// An event costs no allocation, and without viewers only a few nanoseconds. If opts already has an
// Observer.Sample, it and the view may observe the same call of a handler. With viewers, such a
// call costs one allocation.
func InformerOptions[T any](v *View, opts informer.Options[T]) informer.Options[T] {
	if opts.Name == "" {
		opts.Name = fmt.Sprintf("%T", *new(T)) // as in informer.New
	}
	opts.Observer, opts.Reflector.Observer, opts.Queue.Observer =
		v.recorders.informers.create(opts.Name).observe(opts.Observer, opts.Reflector.Observer, opts.Queue.Observer)
	return opts
}

// observe returns observers of an informer's stages, which also call the observers in the
// arguments.
func (r *recorder) observe(of *informer.Observer, reflecting *reflector.Observer, queueing *deltafifo.Observer) (*informer.Observer, *reflector.Observer, *deltafifo.Observer) {
	of, reflecting, queueing = hooks.CopyOf(of), hooks.CopyOf(reflecting), hooks.CopyOf(queueing)
	reflecting.OnPhase = hooks.Chain(r.phase, reflecting.OnPhase)
	reflecting.OnPage = hooks.Chain(r.page, reflecting.OnPage)
	reflecting.OnItem = hooks.Chain(r.item, reflecting.OnItem)
	reflecting.OnEvent = hooks.Chain(r.event, reflecting.OnEvent)
	reflecting.OnWait = hooks.Chain(r.pause, reflecting.OnWait)
	queueing.OnDelta = hooks.Chain3(r.delta, queueing.OnDelta)
	queueing.OnBatch = hooks.Chain(r.batch, queueing.OnBatch)
	of.Sample = r.sampleObserver(of.Sample)
	return of, reflecting, queueing
}

// QueueOptions returns opts with an observer for events and times. An observer that is already set
// is called as well. Without QueueOptions, the page shows only the queue's numbers.
//
// An event of a key costs no allocation. A queue with an observer measures the times of reconciles;
// see workqueue.Options.Timed.
func QueueOptions[K comparable](v *View, opts workqueue.Options[K]) workqueue.Options[K] {
	opts.Observer = QueueObserver(v, opts.Name, opts.Observer)
	return opts
}

// QueueObserver returns the observer of [QueueOptions] for the queue of this name. It also calls
// next.
func QueueObserver[K comparable](v *View, name string, next *workqueue.Observer[K]) *workqueue.Observer[K] {
	rec := &queueRecorder[K]{v.recorders.queues.create(name), hashOf[K]()}
	o := hooks.CopyOf(next)
	o.OnAdd = hooks.Chain(rec.add, o.OnAdd)
	o.OnMerged = hooks.Chain(rec.merged, o.OnMerged)
	o.OnGet = hooks.Chain(rec.get, o.OnGet)
	o.OnDone = hooks.Chain2(rec.done, o.OnDone)
	o.OnRetry = hooks.Chain2(rec.retry, o.OnRetry)
	o.OnError = hooks.Chain2(rec.failed, o.OnError)
	return o
}

func (r *recorder) phase(change reflector.PhaseChange) {
	r.hasEvents.Store(true)
	if change.Cause != nil && apierrors.IsResourceExpired(change.Cause) {
		r.expired.Add(1)
	}
	if r.active() {
		e := recordedEvent{what: Phase, kind: change.To.String(), cause: change.From.String()}
		if change.Cause != nil {
			e.text = rootCause(change.Cause).Error()
		}
		r.ring.put(e)
	}
}

func (r *recorder) page(p reflector.PageInfo) {
	if r.active() {
		r.ring.put(recordedEvent{what: Page, version: p.ResourceVersion, count: p.Items})
	}
}

func (r *recorder) item(i reflector.ItemInfo) {
	if !r.active() {
		return
	}
	if r.keyInSample(i.Key) {
		kind := "decoded"
		if i.State != listwatch.Decoded {
			kind = "unchanged"
		}
		r.ring.put(recordedEvent{what: Item, kind: kind, key: i.Key, version: i.ResourceVersion})
	}
}

func (r *recorder) event(e reflector.EventInfo) {
	if e.Type == listwatch.Bookmark {
		r.bookmarkAt.Store(int64(max(time.Since(r.ring.start), 1)))
		if r.active() {
			r.ring.put(recordedEvent{what: Received, kind: e.Type.String(), version: e.ResourceVersion})
		}
		return
	}
	if r.active() && r.keyInSample(e.Key) {
		r.ring.put(recordedEvent{what: Received, kind: e.Type.String(), cause: e.Phase.String(), key: e.Key, version: e.ResourceVersion})
	}
}

func (r *recorder) pause(d time.Duration) {
	if r.active() {
		r.ring.put(recordedEvent{what: Pause, waited: d})
	}
}

func (r *recorder) delta(key types.NamespacedName, t deltafifo.DeltaType, version string) {
	if r.active() && r.keyInSample(key) {
		r.ring.put(recordedEvent{what: Delta, kind: t.String(), key: key, version: version})
	}
}

func (r *recorder) batch(b deltafifo.BatchInfo) {
	if !r.active() {
		return
	}
	r.fifoWait.add(b.Waited)
	kind := ""
	switch {
	case b.Initial:
		kind = "initial"
	case b.Replaced:
		kind = "replaced"
	}
	r.ring.putBatch(recordedEvent{what: Batch, kind: kind, version: b.ResourceVersion, waited: b.Waited, count: b.Keys})
}

// sampleObserver returns an Observer.Sample for an informer. It also calls the function next.
func (r *recorder) sampleObserver(next func(types.NamespacedName) func(informer.DeliverInfo)) func(types.NamespacedName) func(informer.DeliverInfo) {
	deliver := r.deliver
	return func(key types.NamespacedName) (onDeliver func(informer.DeliverInfo)) {
		if next != nil {
			onDeliver = next(key)
		}
		if r.active() && r.keyInSample(key) {
			onDeliver = hooks.Chain(deliver, onDeliver)
		}
		return onDeliver
	}
}

func (r *recorder) deliver(d informer.DeliverInfo) {
	if times := r.timesOf(d.Handler); times != nil {
		times.wait.add(d.Waited)
		times.run.add(d.Ran)
	}
	r.ring.put(recordedEvent{what: Delivered, of: d.Handler, kind: d.Type.String(), cause: d.Cause.String(), key: d.Key,
		version: d.ResourceVersion, waited: d.Waited, ran: d.Ran})
}

// queueRecorder is the recorder of a queue with keys of type K.
type queueRecorder[K comparable] struct {
	*recorder
	hash func(K) uint64
}

// isSampled reports whether there are viewers and the key is in the sample.
func (r *queueRecorder[K]) isSampled(k K) bool { return r.active() && r.inSample(r.hash(k)) }

// record records an event of a key.
func (r *queueRecorder[K]) record(k K, e recordedEvent) {
	if name, ok := any(k).(types.NamespacedName); ok {
		e.key = name
	} else {
		e.name = nameOf(k)
	}
	r.ring.put(e)
}

func (r *queueRecorder[K]) add(k K) {
	if r.isSampled(k) {
		r.record(k, recordedEvent{what: Queued})
	}
}

func (r *queueRecorder[K]) merged(k K) {
	if r.isSampled(k) {
		r.record(k, recordedEvent{what: Merged})
	}
}

func (r *queueRecorder[K]) get(item workqueue.Item[K]) {
	if r.isSampled(item.Key) {
		r.wait.add(item.Waited)
		r.record(item.Key, recordedEvent{what: Taken, waited: item.Waited, count: int(item.Causes.Count)})
	}
}

func (r *queueRecorder[K]) done(k K, ran time.Duration) {
	if r.isSampled(k) {
		r.run.add(ran)
		r.record(k, recordedEvent{what: Done, ran: ran})
	}
}

func (r *queueRecorder[K]) retry(k K, after time.Duration) {
	if r.isSampled(k) {
		r.record(k, recordedEvent{what: Retried, waited: after})
	}
}

func (r *queueRecorder[K]) failed(k K, err error) {
	if r.isSampled(k) {
		r.record(k, recordedEvent{what: Failed, text: err.Error()})
	}
}
