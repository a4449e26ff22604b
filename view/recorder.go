package view

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/workqueue"
)

// recorder hears of each event of an informer, or of a queue. While nobody looks, each costs one atomic
// load, and nothing is kept but what is as rare as a new phase.
//
// Sampling is by key: an object is in the sample of all boxes, or in none, so that the page shows the
// whole way of each change that it shows. An object is in the sample if the lowest bits of its
// hash are zero; the more events there are, the more bits.
type recorder struct {
	name    string
	viewers atomic.Int32
	mask    atomic.Uint64
	ring    ring

	wait, run histogram // of a queue and its workers
	shelf     histogram // how long changes are between reflector and store

	heard         atomic.Bool // whether a part has begun to tell it anything; of an informer
	expired       atomic.Uint64
	bookmarkAt    atomic.Int64 // nanoseconds since the start; 0: none yet
	handlers      sync.Map     // of a name: *handlerTimes
	lastTold      atomic.Pointer[handlerTimes]
	handlersCount atomic.Int32

	taken bool // a part has it; recorders.mu guards it

	mu      sync.Mutex // guards following
	tallies []tally    // of turns that have failed, the oldest first
}

// tally is how many turns had failed at a time.
type tally struct {
	at     time.Time
	failed uint64
}

// lately is how long ago a failure is at most that counts as one of now.
const lately = 30 * time.Second

// failing returns how many turns have failed lately, if there are keys that wait to be tried again. It knows of what it has been asked about.
func (r *recorder) failing(s workqueue.Stats, now time.Time) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	failed := s.Turns.Retried
	if len(r.tallies) == 0 || r.tallies[len(r.tallies)-1].failed != failed {
		r.tallies = append(r.tallies, tally{now, failed})
	}
	// The one before the first of lately is what was counted before.
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

// maxHandlers bounds the handlers that have times of their own: their names may be made at random.
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

// timesOf returns the times of a handler, or nil if there are too many.
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

// all returns one of the histograms of each handler.
func (r *recorder) all(which func(*handlerTimes) *histogram) (hs []*histogram) {
	for _, t := range r.handlers.Range {
		hs = append(hs, which(t.(*handlerTimes)))
	}
	return hs
}

// recorders are those of the parts of one kind, by their names. Observers are made before the part that
// they are for, so that a recorder waits here for the part.
type recorders struct {
	start time.Time

	mu     sync.Mutex // guards following
	byName map[string][]*recorder
	names  []string // of byName, the oldest first
}

// mostUntaken is how many recorders of a name wait for parts. A factory is given one with each use of an informer, and only that of the
// first use hears of anything: of too many, the first one and the newest that has heard of something stay.
const mostUntaken = 64

// mostNames is how many names have recorders. Beyond that, the oldest name goes that no part has taken and nobody looks at: names may be made
// for each object.
const mostNames = 1024

// make returns a new recorder for a part that will have this name.
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

// addLocked adds a recorder to those of a name.
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

// forget forgets the recorder of a part that is shown no more.
func (r *recorders) forget(gone *recorder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := slices.DeleteFunc(r.byName[gone.name], func(rec *recorder) bool { return rec == gone })
	if r.byName[gone.name] = left; len(left) == 0 {
		delete(r.byName, gone.name)
		r.names = slices.DeleteFunc(r.names, func(name string) bool { return name == gone.name })
	}
}

// take returns the recorder of a part that has this name: the first one that no other part has taken,
// or else one that hears nothing.
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

// of returns the recorder of the part of a manager or a factory that has this name there: the newest one of that name which has heard of
// anything, as parts come and go, or else the newest. It is made if there is none.
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
