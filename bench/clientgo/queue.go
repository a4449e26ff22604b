package clientgo

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kinform/kinform/internal/testing/conformance"
)

// NewDeltaFIFO adapts a cache.DeltaFIFO, with the options of an informer, for the queue suite.
func NewDeltaFIFO() conformance.Queue {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	return &queue{known: known, Queue: cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KnownObjects: known, EmitDeltaTypeReplaced: true,
	})}
}

// NewRealFIFO adapts a cache.RealFIFO that computes deletions itself, for the queue suite.
func NewRealFIFO() conformance.Queue {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	return &queue{known: known, Queue: cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known})}
}

type queue struct {
	cache.Queue
	known  cache.Store
	closed bool
}

func (q *queue) Add(o *conformance.Object) error    { return q.Queue.Add(o) }
func (q *queue) Update(o *conformance.Object) error { return q.Queue.Update(o) }
func (q *queue) Delete(o *conformance.Object) error { return q.Queue.Delete(o) }

func (q *queue) Replace(list []*conformance.Object, resourceVersion string) error {
	all := []any{}
	for _, o := range list {
		all = append(all, o)
	}
	return q.Queue.Replace(all, resourceVersion)
}

func (q *queue) Close() {
	q.closed = true
	q.Queue.Close()
}

// sentinel is an object that is queued behind everything else, to mark the end.
var sentinel = &conformance.Object{ObjectMeta: metav1.ObjectMeta{Name: "last"}}

func (q *queue) Take() (taken []conformance.Stack, closed bool) {
	if !q.closed {
		if err := q.Queue.Add(sentinel); err != nil {
			panic(err)
		}
	}
	var stacks conformance.Stacks
	for ended := false; !ended; {
		_, err := q.Pop(func(popped any, _ bool) error {
			deltas := popped.(cache.Deltas)
			if deltas.Newest().Object == sentinel {
				ended = true
				return nil
			}
			for _, d := range deltas {
				q.apply(&stacks, d)
			}
			return nil
		})
		if errors.Is(err, cache.ErrFIFOClosed) {
			ended, closed = true, len(stacks.All()) == 0
		}
	}
	return stacks.All(), closed
}

func (q *queue) apply(stacks *conformance.Stacks, d cache.Delta) {
	tombstone, unknown := d.Object.(cache.DeletedFinalStateUnknown)
	if unknown {
		d.Object = tombstone.Obj
	}
	o := d.Object.(*conformance.Object)
	stacks.Add(o.Name, string(d.Type), unknown, o.ResourceVersion)
	change := q.known.Update
	if d.Type == cache.Deleted {
		change = q.known.Delete
	}
	if err := change(o); err != nil {
		panic(err)
	}
}

func (q *queue) Synced() bool { return q.HasSynced() }
