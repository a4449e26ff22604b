package workqueue

import (
	"container/heap"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// clocked implements delays with the clock of a test, which kinform's queue cannot use.
type clocked[T comparable] struct {
	clock clock.WithTicker
	add   func(T)

	changed chan struct{} // wakes the loop when the earliest due time may have changed
	over    chan struct{}
	once    sync.Once
	loop    sync.WaitGroup

	mu    sync.Mutex // guards following
	times times[T]
	byKey map[T]*due[T]
	count uint64
}

// due is an item with the time at which it must be added to the queue.
type due[T comparable] struct {
	item   T
	at     time.Time
	number uint64 // order of items with equal times: the item that was delayed first comes first
	index  int    // index in the heap
}

func newClocked[T comparable](c clock.WithTicker, add func(T)) *clocked[T] {
	d := &clocked[T]{
		clock: c, add: add,
		changed: make(chan struct{}, 1), over: make(chan struct{}),
		byKey: make(map[T]*due[T]),
	}
	d.loop.Go(d.run)
	return d
}

func (d *clocked[T]) addAfter(item T, after time.Duration) {
	at := d.clock.Now().Add(after)
	d.mu.Lock()
	if old := d.byKey[item]; old == nil {
		d.count++
		e := &due[T]{item: item, at: at, number: d.count}
		d.byKey[item] = e
		heap.Push(&d.times, e)
	} else if at.Before(old.at) {
		old.at = at
		heap.Fix(&d.times, old.index)
	}
	d.mu.Unlock()
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

func (d *clocked[T]) stop() {
	d.once.Do(func() { close(d.over) })
	d.loop.Wait()
}

func (d *clocked[T]) run() {
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
func (d *clocked[T]) wait(ring <-chan time.Time) bool {
	select {
	case <-d.over:
		return false
	case <-d.changed:
	case <-ring:
	}
	return true
}

// addDue adds the items whose time has come. It returns the time of the next item, and whether
// there is a next item.
func (d *clocked[T]) addDue() (next time.Time, any bool) {
	for {
		now := d.clock.Now()
		d.mu.Lock()
		if len(d.times) == 0 {
			d.mu.Unlock()
			return next, false
		}
		first := d.times[0]
		if first.at.After(now) {
			next = first.at
			d.mu.Unlock()
			return next, true
		}
		heap.Pop(&d.times)
		delete(d.byKey, first.item)
		d.mu.Unlock()
		d.add(first.item)
	}
}

// times is a heap with the earliest time on top.
type times[T comparable] []*due[T]

func (t times[T]) Len() int { return len(t) }

func (t times[T]) Less(i, j int) bool {
	if t[i].at.Equal(t[j].at) {
		return t[i].number < t[j].number
	}
	return t[i].at.Before(t[j].at)
}

func (t times[T]) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}

func (t *times[T]) Push(x any) {
	e := x.(*due[T])
	e.index = len(*t)
	*t = append(*t, e)
}

func (t *times[T]) Pop() any {
	last := len(*t) - 1
	e := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	return e
}

// handled returns a function that calls add and passes a panic to apimachinery's crash handlers. If
// logger is not nil, they use it.
func handled[T comparable](logger *klog.Logger, add func(T)) func(T) {
	return func(item T) {
		if logger == nil {
			defer runtime.HandleCrash()
		} else {
			defer runtime.HandleCrashWithLogger(*logger)
		}
		add(item)
	}
}
