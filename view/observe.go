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
// An event costs no allocation, and only a few nanoseconds while nobody looks. If opts already has
// an Observer.Sample, both it and the view may observe a call of a handler. Such a call costs one
// allocation while somebody looks.
func InformerOptions[T any](v *View, opts informer.Options[T]) informer.Options[T] {
	if opts.Name == "" {
		opts.Name = fmt.Sprintf("%T", *new(T)) // as in informer.New
	}
	opts.Observer, opts.Reflector.Observer, opts.Queue.Observer =
		v.recorders.informers.make(opts.Name).observe(opts.Observer, opts.Reflector.Observer, opts.Queue.Observer)
	return opts
}

// observe returns observers of an informer's stages, which also call the given observers.
func (r *recorder) observe(of *informer.Observer, reflecting *reflector.Observer, queueing *deltafifo.Observer) (*informer.Observer, *reflector.Observer, *deltafifo.Observer) {
	of, reflecting, queueing = hooks.Copied(of), hooks.Copied(reflecting), hooks.Copied(queueing)
	reflecting.OnPhase = hooks.Then(r.phase, reflecting.OnPhase)
	reflecting.OnPage = hooks.Then(r.page, reflecting.OnPage)
	reflecting.OnItem = hooks.Then(r.item, reflecting.OnItem)
	reflecting.OnEvent = hooks.Then(r.event, reflecting.OnEvent)
	reflecting.OnWait = hooks.Then(r.pause, reflecting.OnWait)
	queueing.OnDelta = hooks.Then3(r.delta, queueing.OnDelta)
	queueing.OnBatch = hooks.Then(r.batch, queueing.OnBatch)
	of.Sample = r.samples(of.Sample)
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
	rec := &keyed[K]{v.recorders.queues.make(name), hashOf[K]()}
	o := hooks.Copied(next)
	o.OnAdd = hooks.Then(rec.add, o.OnAdd)
	o.OnMerged = hooks.Then(rec.merged, o.OnMerged)
	o.OnGet = hooks.Then(rec.get, o.OnGet)
	o.OnDone = hooks.Then2(rec.done, o.OnDone)
	o.OnRetry = hooks.Then2(rec.retry, o.OnRetry)
	o.OnError = hooks.Then2(rec.failed, o.OnError)
	return o
}

func (r *recorder) phase(change reflector.PhaseChange) {
	r.heard.Store(true)
	if change.Cause != nil && apierrors.IsResourceExpired(change.Cause) {
		r.expired.Add(1)
	}
	if r.on() {
		e := noted{what: Phase, kind: change.To.String(), cause: change.From.String()}
		if change.Cause != nil {
			e.text = reason(change.Cause).Error()
		}
		r.ring.put(e)
	}
}

func (r *recorder) page(p reflector.PageInfo) {
	if r.on() {
		r.ring.put(noted{what: Page, version: p.ResourceVersion, count: p.Items})
	}
}

func (r *recorder) item(i reflector.ItemInfo) {
	if !r.on() {
		return
	}
	if r.wantsKey(i.Key) {
		kind := "decoded"
		if i.Unchanged {
			kind = "unchanged"
		}
		r.ring.put(noted{what: Item, kind: kind, key: i.Key, version: i.ResourceVersion})
	}
}

func (r *recorder) event(e reflector.EventInfo) {
	if e.Type == listwatch.Bookmark {
		r.bookmarkAt.Store(int64(max(time.Since(r.ring.start), 1)))
		if r.on() {
			r.ring.put(noted{what: Received, kind: e.Type.String(), version: e.ResourceVersion})
		}
		return
	}
	if r.on() && r.wantsKey(e.Key) {
		r.ring.put(noted{what: Received, kind: e.Type.String(), cause: e.Phase.String(), key: e.Key, version: e.ResourceVersion})
	}
}

func (r *recorder) pause(d time.Duration) {
	if r.on() {
		r.ring.put(noted{what: Pause, waited: d})
	}
}

func (r *recorder) delta(key types.NamespacedName, t deltafifo.DeltaType, version string) {
	if r.on() && r.wantsKey(key) {
		r.ring.put(noted{what: Delta, kind: t.String(), key: key, version: version})
	}
}

func (r *recorder) batch(b deltafifo.BatchInfo) {
	if !r.on() {
		return
	}
	r.shelf.add(b.Waited)
	kind := ""
	switch {
	case b.Initial:
		kind = "initial"
	case b.Replaced:
		kind = "replaced"
	}
	r.ring.putStep(noted{what: Batch, kind: kind, version: b.ResourceVersion, waited: b.Waited, count: b.Keys})
}

// samples returns an Observer.Sample for an informer, which also calls the function next.
func (r *recorder) samples(next func(types.NamespacedName) func(informer.DeliverInfo)) func(types.NamespacedName) func(informer.DeliverInfo) {
	deliver := r.deliver
	return func(key types.NamespacedName) (hears func(informer.DeliverInfo)) {
		if next != nil {
			hears = next(key)
		}
		if r.on() && r.wantsKey(key) {
			hears = hooks.Then(deliver, hears)
		}
		return hears
	}
}

func (r *recorder) deliver(d informer.DeliverInfo) {
	if times := r.timesOf(d.Handler); times != nil {
		times.wait.add(d.Waited)
		times.run.add(d.Ran)
	}
	r.ring.put(noted{what: Delivered, of: d.Handler, kind: d.Type.String(), cause: d.Cause.String(), key: d.Key,
		version: d.ResourceVersion, waited: d.Waited, ran: d.Ran})
}

// keyed is the recorder of a queue with keys of type K.
type keyed[K comparable] struct {
	*recorder
	hash func(K) uint64
}

// heeds reports whether somebody looks at the page and the key is in the sample.
func (r *keyed[K]) heeds(k K) bool { return r.on() && r.wants(r.hash(k)) }

// note records an event of a key.
func (r *keyed[K]) note(k K, e noted) {
	if name, ok := any(k).(types.NamespacedName); ok {
		e.key = name
	} else {
		e.name = nameOf(k)
	}
	r.ring.put(e)
}

func (r *keyed[K]) add(k K) {
	if r.heeds(k) {
		r.note(k, noted{what: Queued})
	}
}

func (r *keyed[K]) merged(k K) {
	if r.heeds(k) {
		r.note(k, noted{what: Merged})
	}
}

func (r *keyed[K]) get(item workqueue.Item[K]) {
	if r.heeds(item.Key) {
		r.wait.add(item.Waited)
		r.note(item.Key, noted{what: Taken, waited: item.Waited, count: int(item.Causes.Count)})
	}
}

func (r *keyed[K]) done(k K, ran time.Duration) {
	if r.heeds(k) {
		r.run.add(ran)
		r.note(k, noted{what: Done, ran: ran})
	}
}

func (r *keyed[K]) retry(k K, after time.Duration) {
	if r.heeds(k) {
		r.note(k, noted{what: Retried, waited: after})
	}
}

func (r *keyed[K]) failed(k K, err error) {
	if r.heeds(k) {
		r.note(k, noted{what: Failed, text: err.Error()})
	}
}
