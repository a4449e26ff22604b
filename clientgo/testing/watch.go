package testing

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// watcher is a watch of the tracker. Its channel is large enough for most tests. If it is full, a
// goroutine sends the events, so that no write waits for a reader. The goroutine ends when all
// events are read or the watch is stopped.
type watcher struct {
	events chan watch.Event
	stop   chan struct{}

	mu sync.Mutex // guards following
	// events for which the channel had no room; the goroutine runs while there are any
	waiting []watch.Event
	stopped bool
}

func newWatcher() *watcher {
	return &watcher{events: make(chan watch.Event, watch.DefaultChanSize), stop: make(chan struct{})}
}

// ResultChan implements watch.Interface. The channel is closed after Stop.
func (w *watcher) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface. It may be called several times.
func (w *watcher) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	w.stopped = true
	close(w.stop)
	if len(w.waiting) == 0 {
		close(w.events) // otherwise the goroutine closes the channel
	}
}

// isStopped reports whether the watch is stopped.
func (w *watcher) isStopped() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stopped
}

// send adds an event with a copy of an object.
func (w *watcher) send(kind watch.EventType, obj runtime.Object) {
	event := watch.Event{Type: kind, Object: obj.DeepCopyObject()}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	if len(w.waiting) == 0 {
		select {
		case w.events <- event:
			return
		default:
			go func() { w.forward() }()
		}
	}
	w.waiting = append(w.waiting, event)
}

// forward sends the waiting events until all are sent or the watch is stopped.
func (w *watcher) forward() {
	for {
		w.mu.Lock()
		if w.stopped {
			close(w.events)
			w.mu.Unlock()
			return
		}
		if len(w.waiting) == 0 {
			w.waiting = nil
			w.mu.Unlock()
			return
		}
		event := w.waiting[0]
		w.mu.Unlock()
		select {
		case w.events <- event:
			w.mu.Lock()
			w.waiting = w.waiting[1:]
			w.mu.Unlock()
		case <-w.stop:
		}
	}
}
