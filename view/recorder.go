package view

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/workqueue"
)

// recorder records the events of an informer or a queue. Without viewers, each event costs one
// atomic load, and the recorder keeps only rare events, such as a new phase.
//
// The sample is chosen by key. An object is in the sample of all boxes, or of no box, so that the
// page shows the whole path of a change. An object is in the sample if the lowest bits of its hash
// are zero. The more events there are, the more bits have to be zero.
type recorder struct {
	name    string
	viewers atomic.Int32
	mask    atomic.Uint64
	ring    ring

	wait, run histogram // durations of a queue and its workers
	fifoWait  histogram // how long changes took from the reflector to the store

	hasEvents     atomic.Bool // whether an informer has reported an event yet
	expired       atomic.Uint64
	bookmarkAt    atomic.Int64 // nanoseconds since the start; 0: none yet
	handlers      sync.Map     // from name to *handlerTimes
	lastHandler   atomic.Pointer[handlerTimes]
	handlersCount atomic.Int32

	claimed bool // set if an entry uses this recorder; guarded by recorders.mu

	mu            sync.Mutex     // guards following
	failureCounts []failureCount // of failed reconciles, the oldest first
}

// failureCount is the number of failed reconciles at a time.
type failureCount struct {
	at     time.Time
	failed uint64
}

// recentFailureAge is the age up to which a failure counts as current.
const recentFailureAge = 30 * time.Second

// recentFailures returns the number of recent failed reconciles, or 0 if no key waits for a retry.
// The recorder counts failures only when recentFailures is called.
func (r *recorder) recentFailures(s workqueue.Stats, now time.Time) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	failed := s.Outcomes.Retried
	if len(r.failureCounts) == 0 || r.failureCounts[len(r.failureCounts)-1].failed != failed {
		r.failureCounts = append(r.failureCounts, failureCount{now, failed})
	}
	// If the second count is too old, so is the first. The first count that stays is the newest one
	// from before the period.
	for len(r.failureCounts) > 1 && (now.Sub(r.failureCounts[1].at) > recentFailureAge || len(r.failureCounts) > 600) {
		r.failureCounts = r.failureCounts[1:]
	}
	if s.Delayed == 0 {
		return 0
	}
	return failed - r.failureCounts[0].failed
}

// handlerTimes are the times of one handler.
type handlerTimes struct {
	name      string
	wait, run histogram
}

// maxHandlers limits the handlers with separate times, because handler names may be random.
const maxHandlers = 64

func newRecorder(name string, start time.Time) *recorder {
	return &recorder{name: name, ring: ring{start: start}}
}

// active reports whether there are viewers.
func (r *recorder) active() bool { return r.viewers.Load() > 0 }

// inSample reports whether an object is in the sample.
func (r *recorder) inSample(hash uint64) bool {
	return hash&r.mask.Load() == 0
}

func (r *recorder) keyInSample(key types.NamespacedName) bool { return r.inSample(hashKey(key)) }

// timesOf returns the times of a handler, or nil if there are too many handlers already.
func (r *recorder) timesOf(handler string) *handlerTimes {
	if last := r.lastHandler.Load(); last != nil && last.name == handler {
		return last
	}
	if t, ok := r.handlers.Load(handler); ok {
		r.lastHandler.Store(t.(*handlerTimes))
		return t.(*handlerTimes)
	}
	if r.handlersCount.Add(1) > maxHandlers {
		r.handlersCount.Add(-1)
		return nil
	}
	t, _ := r.handlers.LoadOrStore(handler, &handlerTimes{name: handler})
	return t.(*handlerTimes)
}

// histogramsOf returns one histogram of each handler. The function which selects it.
func (r *recorder) histogramsOf(which func(*handlerTimes) *histogram) (hs []*histogram) {
	for _, t := range r.handlers.Range {
		hs = append(hs, which(t.(*handlerTimes)))
	}
	return hs
}

// recorders are the recorders of all informers, or of all queues, by name. The program makes
// observers before it adds the entry to the view. Until then, their recorder waits here.
type recorders struct {
	start time.Time

	mu     sync.Mutex // guards following
	byName map[string][]*recorder
	names  []string // keys of byName, the oldest first
}

// maxUnclaimed limits the recorders of one name that wait for entries. Each user of a factory's
// informer makes a recorder, but only the recorder of the first user gets events. Beyond the limit,
// two recorders stay: the first one, and the newest one that has events.
const maxUnclaimed = 64

// maxNames limits the names with recorders, because a program may use a new name for each object.
// Beyond the limit, the oldest name without an entry and without viewers is dropped.
const maxNames = 1024

// create returns a new recorder for a future entry with this name.
func (r *recorders) create(name string) *recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.byName[name]
	if len(all) >= maxUnclaimed {
		first, newest := all[0], newestWithEvents(all)
		all = slices.DeleteFunc(all, func(old *recorder) bool { return !old.claimed && old != first && old != newest })
	}
	return r.addLocked(name, all)
}

// addLocked makes a recorder for a name, and appends it to the name's recorders.
func (r *recorders) addLocked(name string, to []*recorder) *recorder {
	if len(to) == 0 {
		if len(r.names) >= maxNames {
			idle := slices.IndexFunc(r.names, func(old string) bool {
				return !slices.ContainsFunc(r.byName[old], func(rec *recorder) bool { return rec.claimed || rec.active() })
			})
			if idle >= 0 {
				delete(r.byName, r.names[idle])
				r.names = slices.Delete(r.names, idle, idle+1)
			}
		}
		r.names = append(r.names, name)
	}
	made := newRecorder(name, r.start)
	r.byName[name] = append(to, made)
	return made
}

// forget drops the recorder of a removed entry.
func (r *recorders) forget(gone *recorder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := slices.DeleteFunc(r.byName[gone.name], func(rec *recorder) bool { return rec == gone })
	if r.byName[gone.name] = left; len(left) == 0 {
		delete(r.byName, gone.name)
		r.names = slices.DeleteFunc(r.names, func(name string) bool { return name == gone.name })
	}
}

// claim returns the recorder for an entry with this name. It is the first recorder that no other
// entry uses, or else a new recorder that gets no events.
func (r *recorders) claim(name string) *recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, made := range r.byName[name] {
		if !made.claimed {
			made.claimed = true
			return made
		}
	}
	return newRecorder(name, r.start)
}

// forName(name) returns the recorder for an entry of a manager or a factory. These entries come and
// go. So it prefers the newest recorder that has events, and otherwise takes the newest. It makes a
// recorder if the name has no recorder.
func (r *recorders) forName(name string) *recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	if made := r.byName[name]; len(made) > 0 {
		return newestWithEvents(made)
	}
	return r.addLocked(name, nil)
}

func newestWithEvents(all []*recorder) *recorder {
	for _, made := range slices.Backward(all) {
		if made.hasEvents.Load() {
			return made
		}
	}
	return all[len(all)-1]
}
