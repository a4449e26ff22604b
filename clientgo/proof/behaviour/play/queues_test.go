package play

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

func playHeap(_ *testing.T, p *player) {
	heap := cache.NewHeap(cache.MetaNamespaceKeyFunc, func(a, b any) bool {
		return strings.Compare(a.(*corev1.Pod).ResourceVersion, b.(*corev1.Pod).ResourceVersion) < 0
	})
	for range 40 {
		o := any(p.pod())
		if p.chance(20) {
			o = "no object"
		}
		switch p.IntN(6) {
		case 0:
			p.trace("add %s: %s", show(o), kind(heap.Add(o)))
		case 1:
			p.trace("update %s: %s", show(o), kind(heap.Update(o)))
		case 2:
			p.trace("add if not present %s: %s", show(o), kind(heap.AddIfNotPresent(o)))
		case 3:
			p.trace("delete %s: %s", show(o), kind(heap.Delete(o)))
		case 4:
			p.trace("bulk: %s", kind(heap.BulkAdd([]any{p.pod(), o, p.pod()})))
		case 5:
			if len(heap.List()) > 0 || heap.IsClosed() {
				obj, err := heap.Pop()
				p.trace("pop: %s %s", show(obj), kind(err))
			}
		}
		if p.chance(40) {
			heap.Close()
		}
		obj, exists, err := heap.Get(o)
		p.trace("  %v %v, %s %v %s, closed %v", sorted(heap.ListKeys()), sorted(showAll(heap.List())), show(obj), exists, kind(err), heap.IsClosed())
	}
}

// knownStore is the store of a queue's consumer. Its keys are sorted, because client-go queues
// tombstones in the order in which it gets the keys.
type knownStore struct{ cache.Store }

func (k knownStore) ListKeys() []string { return sorted(k.Store.ListKeys()) }

// apply changes the store as an informer does, and ignores errors.
func (k knownStore) apply(d cache.Delta) {
	switch d.Type {
	case cache.Deleted:
		_ = k.Delete(d.Object)
	case cache.ReplacedAll:
		_ = k.Replace(slices.Clone(d.Object.(cache.ReplacedAllInfo).Objects), "")
	case cache.SyncAll, cache.Bookmark:
	default:
		_ = k.Add(d.Object)
	}
}

// playQueue runs a history on a queue. The function pop takes one item, and waits while the queue
// is empty. A separate goroutine calls pop, one call at a time. Lists have at most longest objects.
func (p *player) playQueue(t *testing.T, longest int, open func() (q cache.Queue, pop func(fails, batch bool) error)) {
	synctest.Test(t, func(t *testing.T) {
		q, pop := open()
		type request struct{ fails, batch bool }
		requests := make(chan request)
		var running sync.WaitGroup
		running.Go(func() {
			for r := range requests {
				if errors.Is(pop(r.fails, r.batch), cache.ErrFIFOClosed) {
					for range requests { //nolint:revive // the rest is dropped
					}
				}
			}
		})
		synctest.Wait() // the goroutine waits for the first request
		ask := func() {
			select {
			case requests <- request{p.chance(5), p.chance(2)}:
			default: // pop is waiting already
			}
			synctest.Wait()
		}
		do := func(what string, err error) {
			synctest.Wait()
			p.trace("%s: %s; synced %v %v", what, kind(err), q.HasSynced(), cache.IsDone(q.HasSyncedChecker()))
		}
		for range 40 {
			o := p.anyObject()
			if p.chance(3) {
				for range p.IntN(4) {
					ask()
				}
			}
			switch p.IntN(6) {
			case 0:
				do("add "+show(o), q.Add(o))
			case 1:
				do("update "+show(o), q.Update(o))
			case 2:
				do("delete "+show(o), q.Delete(o))
			case 3:
				list := p.pods(longest)
				if p.chance(8) {
					list = append(list, "no object")
				}
				do(fmt.Sprintf("replace %v", showAll(list)), q.Replace(list, "r"))
			case 4:
				do("resync", q.Resync())
			case 5:
				if b, ok := q.(cache.ReflectorBookmarkStore); ok {
					do("bookmark", b.Bookmark("b"))
				}
			}
		}
		q.Close()
		synctest.Wait() // a waiting pop must return before the next item is added
		do("closed; add", q.Add(p.pod()))
		for range 60 {
			ask()
		}
		close(requests)
		running.Wait()
	})
}

var errProcess = errors.New("not processed")

// popper returns a function that pops, applies the result, and writes it to the trace.
func (p *player) popper(q cache.Queue, k knownStore) func(fails, batch bool) error {
	return func(fails, _ bool) error {
		obj, err := q.Pop(func(obj any, initial bool) error {
			p.trace("  process %s, initial %v", show(obj), initial)
			if deltas, ok := obj.(cache.Deltas); ok {
				for _, d := range deltas {
					k.apply(d)
				}
			}
			if fails {
				return errProcess
			}
			return nil
		})
		p.trace("  popped %s: %s", show(obj), kind(err))
		return err
	}
}

func (p *player) transform() cache.TransformFunc {
	if p.chance(3) {
		return transformed
	}
	return nil
}

// Lists of a FIFO have at most one object, because client-go queues several objects in random
// order.
func playFIFO(t *testing.T, p *player) {
	p.playQueue(t, 1, func() (cache.Queue, func(fails, batch bool) error) {
		q := cache.NewFIFO(cache.MetaNamespaceKeyFunc)
		return q, p.popper(q, knownStore{})
	})
}

func playDeltaFIFO(t *testing.T, p *player) {
	p.playQueue(t, 4, func() (cache.Queue, func(fails, batch bool) error) {
		k := knownStore{cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)}
		opts := cache.DeltaFIFOOptions{EmitDeltaTypeReplaced: p.chance(2), Transformer: p.transform()}
		if !p.chance(4) {
			opts.KnownObjects = k
		}
		p.trace("known %v replaced %v", opts.KnownObjects != nil, opts.EmitDeltaTypeReplaced)
		q := cache.NewDeltaFIFOWithOptions(opts)
		return q, p.popper(q, k)
	})
}

func playRealFIFO(t *testing.T, p *player) {
	p.playQueue(t, 4, func() (cache.Queue, func(fails, batch bool) error) {
		k := knownStore{cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)}
		opts := cache.RealFIFOOptions{Transformer: p.transform()}
		if p.chance(2) {
			opts.AtomicEvents, opts.UnlockWhileProcessing, opts.EmitDeltaTypeBookmark = true, p.chance(2), p.chance(2)
		} else {
			opts.KnownObjects = k
		}
		p.trace("atomic %v unlocked %v bookmarks %v", opts.AtomicEvents, opts.UnlockWhileProcessing, opts.EmitDeltaTypeBookmark)
		q := cache.NewRealFIFOWithOptions(opts)
		single := p.popper(q, k)
		return q, func(fails, batch bool) error {
			if !batch {
				return single(fails, false)
			}
			err := q.PopBatch(func(deltas []cache.Delta, initial bool) error {
				var all []string
				for _, d := range deltas {
					all = append(all, showDelta(d))
					k.apply(d)
				}
				p.trace("  process batch %v, initial %v", all, initial)
				if fails {
					return errProcess
				}
				return nil
			}, func(obj any, initial bool) error {
				p.trace("  process one %s, initial %v", show(obj), initial)
				for _, d := range obj.(cache.Deltas) {
					k.apply(d)
				}
				return nil
			})
			p.trace("  popped a batch: %s", kind(err))
			return err
		}
	})
}
