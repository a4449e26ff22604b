package workqueue

import (
	"container/heap"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// clockDelays implements delays with the clock of a test, which kinform's queue cannot use.
type clockDelays[T comparable] struct {
	clock clock.WithTicker
	add   func(T)

	changed chan struct{} // wakes the loop when the earliest due time may have changed
	done    chan struct{}
	once    sync.Once
	loop    sync.WaitGroup

	mu    sync.Mutex // guards following
	heap  delayHeap[T]
	byKey map[T]*delayedItem[T]
	count uint64
}

// delayedItem is an item with the time at which it must be added to the queue.
type delayedItem[T comparable] struct {
	item   T
	at     time.Time
	number uint64 // order of items with equal times: the item that was delayed first comes first
	index  int    // index in the heap
}

func newClockDelays[T comparable](c clock.WithTicker, add func(T)) *clockDelays[T] {
	d := &clockDelays[T]{
		clock: c, add: add,
		changed: make(chan struct{}, 1), done: make(chan struct{}),
		byKey: make(map[T]*delayedItem[T]),
	}
	d.loop.Go(d.run)
	return d
}

func (d *clockDelays[T]) addAfter(item T, after time.Duration) {
	at := d.clock.Now().Add(after)
	d.mu.Lock()
	if old := d.byKey[item]; old == nil {
		d.count++
		e := &delayedItem[T]{item: item, at: at, number: d.count}
		d.byKey[item] = e
		heap.Push(&d.heap, e)
	} else if at.Before(old.at) {
		old.at = at
		heap.Fix(&d.heap, old.index)
	}
	d.mu.Unlock()
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

func (d *clockDelays[T]) stop() {
	d.once.Do(func() { close(d.done) })
	d.loop.Wait()
}

func (d *clockDelays[T]) run() {
	for {
		first, any := d.addDue()
		var ring <-chan time.Time
		if any {
			timer := d.clock.NewTimer(first.Sub(d.clock.Now()))
			if !first.After(d.clock.Now()) { // the clock may have moved before the timer existed
				timer.Stop()
				continue
			}
			ring = timer.C()
			if !d.wait(ring) {
				timer.Stop()
				return
			}
			timer.Stop()
			continue
		}
		if !d.wait(ring) {
			return
		}
	}
}

// wait waits until the timer fires or the channel changed has a value. It returns false if the loop
// must end.
func (d *clockDelays[T]) wait(fired <-chan time.Time) bool {
	select {
	case <-d.done:
		return false
	case <-d.changed:
	case <-fired:
	}
	return true
}

// addDue adds the items whose time has come. It returns the time of the next item, and whether
// there is a next item.
func (d *clockDelays[T]) addDue() (next time.Time, any bool) {
	for {
		now := d.clock.Now()
		d.mu.Lock()
		if len(d.heap) == 0 {
			d.mu.Unlock()
			return next, false
		}
		first := d.heap[0]
		if first.at.After(now) {
			next = first.at
			d.mu.Unlock()
			return next, true
		}
		heap.Pop(&d.heap)
		delete(d.byKey, first.item)
		d.mu.Unlock()
		d.add(first.item)
	}
}

// delayHeap is a heap with the earliest time on top.
type delayHeap[T comparable] []*delayedItem[T]

func (t delayHeap[T]) Len() int { return len(t) }

func (t delayHeap[T]) Less(i, j int) bool {
	if t[i].at.Equal(t[j].at) {
		return t[i].number < t[j].number
	}
	return t[i].at.Before(t[j].at)
}

func (t delayHeap[T]) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}

func (t *delayHeap[T]) Push(x any) {
	e := x.(*delayedItem[T])
	e.index = len(*t)
	*t = append(*t, e)
}

func (t *delayHeap[T]) Pop() any {
	last := len(*t) - 1
	e := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	return e
}

// withCrashHandling returns a function that calls add and passes a panic to apimachinery's crash
// handlers. If logger is not nil, they use it.
func withCrashHandling[T comparable](logger *klog.Logger, add func(T)) func(T) {
	return func(item T) {
		if logger == nil {
			defer runtime.HandleCrash()
		} else {
			defer runtime.HandleCrashWithLogger(*logger)
		}
		add(item)
	}
}
