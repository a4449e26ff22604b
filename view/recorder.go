package view

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/workqueue"
)

// recorder records the events of an informer or a queue. While nobody looks, each event costs one
// atomic load, and the recorder keeps only rare events, such as a new phase.
//
// The sample is chosen by key. An object is in the sample of all boxes or of none, so that the page
// shows the whole path of a change. An object is in the sample if the lowest bits of its hash are
// zero. The more events there are, the more bits have to be zero.
type recorder struct {
	name    string
	viewers atomic.Int32
	mask    atomic.Uint64
	ring    ring

	wait, run histogram // of a queue and its workers
	shelf     histogram // how long changes took from the reflector to the store

	heard         atomic.Bool // whether an informer has reported anything yet
	expired       atomic.Uint64
	bookmarkAt    atomic.Int64 // nanoseconds since the start; 0: none yet
	handlers      sync.Map     // from name to *handlerTimes
	lastTold      atomic.Pointer[handlerTimes]
	handlersCount atomic.Int32

	taken bool // set if a part uses this recorder; guarded by recorders.mu

	mu      sync.Mutex // guards following
	tallies []tally    // of failed reconciles, the oldest first
}

// tally is the number of failed reconciles at a time.
type tally struct {
	at     time.Time
	failed uint64
}

// lately is the age up to which a failure counts as current.
const lately = 30 * time.Second

// failing returns the number of recent failed reconciles, or 0 if no key waits for a retry. The
// recorder samples the number of failures only when failing is called.
func (r *recorder) failing(s workqueue.Stats, now time.Time) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	failed := s.Turns.Retried
	if len(r.tallies) == 0 || r.tallies[len(r.tallies)-1].failed != failed {
		r.tallies = append(r.tallies, tally{now, failed})
	}
	// If the second tally is too old, so is the first. The first tally that stays is the newest one
	// from before the period.
	for len(r.tallies) > 1 && (now.Sub(r.tallies[1].at) > lately || len(r.tallies) > 600) {
		r.tallies = r.tallies[1:]
	}
	if s.Delayed == 0 {
		return 0
	}
	return failed - r.tallies[0].failed
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

// on reports whether somebody looks.
func (r *recorder) on() bool { return r.viewers.Load() > 0 }

// wants reports whether an object is in the sample.
func (r *recorder) wants(hash uint64) bool {
	return hash&r.mask.Load() == 0
}

func (r *recorder) wantsKey(key types.NamespacedName) bool { return r.wants(hashKey(key)) }

// timesOf returns the times of a handler, or nil if there are too many handlers already.
func (r *recorder) timesOf(handler string) *handlerTimes {
	if last := r.lastTold.Load(); last != nil && last.name == handler {
		return last
	}
	if t, ok := r.handlers.Load(handler); ok {
		r.lastTold.Store(t.(*handlerTimes))
		return t.(*handlerTimes)
	}
	if r.handlersCount.Add(1) > maxHandlers {
		r.handlersCount.Add(-1)
		return nil
	}
	t, _ := r.handlers.LoadOrStore(handler, &handlerTimes{name: handler})
	return t.(*handlerTimes)
}

// all returns one histogram of each handler. The argument selects which one.
func (r *recorder) all(which func(*handlerTimes) *histogram) (hs []*histogram) {
	for _, t := range r.handlers.Range {
		hs = append(hs, which(t.(*handlerTimes)))
	}
	return hs
}

// recorders are the recorders of all parts of one kind, by name. Observers are made before their
// part exists, so a recorder waits here for its part.
type recorders struct {
	start time.Time

	mu     sync.Mutex // guards following
	byName map[string][]*recorder
	names  []string // keys of byName, the oldest first
}

// mostUntaken limits the recorders of one name that wait for parts. Each use of a factory's
// informer makes a recorder, but only the recorder of the first use gets events. Beyond the limit,
// two recorders stay: the first one, and the newest one that has events.
const mostUntaken = 64

// mostNames limits the names with recorders, because a program may use a new name for each object.
// Beyond the limit, the oldest name without a part and without viewers is dropped.
const mostNames = 1024

// make returns a new recorder for a future part with this name.
func (r *recorders) make(name string) *recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.byName[name]
	if len(all) >= mostUntaken {
		first, newest := all[0], newestOf(all)
		all = slices.DeleteFunc(all, func(old *recorder) bool { return !old.taken && old != first && old != newest })
	}
	return r.addLocked(name, all)
}

// addLocked adds a recorder for a name.
func (r *recorders) addLocked(name string, to []*recorder) *recorder {
	if len(to) == 0 {
		if len(r.names) >= mostNames {
			idle := slices.IndexFunc(r.names, func(old string) bool {
				return !slices.ContainsFunc(r.byName[old], func(rec *recorder) bool { return rec.taken || rec.on() })
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

// forget drops the recorder of a removed part.
func (r *recorders) forget(gone *recorder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := slices.DeleteFunc(r.byName[gone.name], func(rec *recorder) bool { return rec == gone })
	if r.byName[gone.name] = left; len(left) == 0 {
		delete(r.byName, gone.name)
		r.names = slices.DeleteFunc(r.names, func(name string) bool { return name == gone.name })
	}
}

// take returns the recorder for a part with this name. It is the first recorder that no other part
// uses, or else a new recorder that gets no events.
func (r *recorders) take(name string) *recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, made := range r.byName[name] {
		if !made.taken {
			made.taken = true
			return made
		}
	}
	return newRecorder(name, r.start)
}

// of(name) returns the recorder for a manager's or a factory's part with this name. Since such
// parts come and go, it prefers the newest recorder that has events, and otherwise takes the
// newest. It makes a recorder if the name has none.
func (r *recorders) of(name string) *recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	if made := r.byName[name]; len(made) > 0 {
		return newestOf(made)
	}
	return r.addLocked(name, nil)
}

func newestOf(all []*recorder) *recorder {
	for _, made := range slices.Backward(all) {
		if made.heard.Load() {
			return made
		}
	}
	return all[len(all)-1]
}
