package apitest

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Fault says which requests go wrong, and how. Conditions that are left empty
// don't restrict. When several faults match a request, all of their actions apply;
// of those that exclude each other, the one that was injected last.
type Fault struct {
	// Verb is a verb as in [Request].Verb.
	Verb string

	// Resource is the plural name of a resource, such as "pods".
	Resource string

	// Match is any further condition. It may be called from several goroutines at
	// once, and must not call the server.
	Match func(Request) bool

	// Skip is how many matching requests are left alone first. Defaults to 0.
	Skip int

	// Times is how many requests the fault hits. Defaults to 0: all of them, until
	// it is removed.
	Times int

	// Probability is the chance that a request is hit, from 0 to 1, drawn from the
	// server's seeded source; the requests that are spared don't count for Times.
	// Defaults to 0, which is read as 1: every request is hit.
	Probability float64

	// Action is what goes wrong. Required.
	Action Action
}

// Injected is a fault in place.
type Injected struct {
	faults *faults
	fault  Fault
	seen   int // guarded by faults.mu
	hits   int // guarded by faults.mu
}

// Inject puts a fault in place. It concerns requests that arrive from now on; for
// open watches there are [Server.DropWatches] and [Server.EndWatches].
func (s *Server) Inject(f Fault) *Injected {
	if f.Action.apply == nil {
		panic("apitest: a Fault needs an Action")
	}
	in := &Injected{faults: &s.faults, fault: f}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.active = append(s.faults.active, in)
	return in
}

// Remove takes the fault away, for requests that arrive from now on. It may be
// called again.
func (in *Injected) Remove() {
	in.faults.mu.Lock()
	defer in.faults.mu.Unlock()
	in.faults.removeLocked(in)
}

// Hits returns how many requests the fault has hit so far.
func (in *Injected) Hits() int {
	in.faults.mu.Lock()
	defer in.faults.mu.Unlock()
	return in.hits
}

// faults are the faults in place.
type faults struct {
	mu     sync.Mutex // guards following
	active []*Injected
	random *rand.Rand
}

func (f *faults) removeLocked(in *Injected) {
	kept := make([]*Injected, 0, len(f.active))
	for _, other := range f.active {
		if other != in {
			kept = append(kept, other)
		}
	}
	f.active = kept
}

// fate decides what becomes of a request.
func (f *faults) fate(req *Request) *fate {
	fate := &fate{}
	f.mu.Lock()
	candidates := f.active
	f.mu.Unlock()

	for _, in := range candidates {
		if in.fault.matches(req) && f.hit(in) {
			in.fault.Action.apply(fate)
		}
	}
	return fate
}

func (f Fault) matches(req *Request) bool {
	return (f.Verb == "" || f.Verb == req.Verb) &&
		(f.Resource == "" || f.Resource == req.Resource) &&
		(f.Match == nil || f.Match(*req))
}

// hit counts a matching request and says whether the fault hits it.
func (f *faults) hit(in *Injected) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	in.seen++
	switch {
	case in.seen <= in.fault.Skip:
		return false
	case in.fault.Times > 0 && in.hits >= in.fault.Times:
		return false
	case in.fault.Probability > 0 && f.random.Float64() >= in.fault.Probability:
		return false
	}
	in.hits++
	if in.hits == in.fault.Times {
		f.removeLocked(in)
	}
	return true
}

// fate is what faults have in store for one request. The zero value is a normal
// answer.
type fate struct {
	delay  time.Duration
	answer func(*response) // instead of the real one

	// What happens to the body on its way.
	contentType    string
	bytesPerSecond int
	cut            bool
	cutAfter       int

	// broken is the position of an object in a list, or of an event in a watch,
	// that cannot be read; 0 is none, 1 the first.
	broken int

	// What happens to a watch.
	duplicate     bool
	noEndMarker   bool
	bookmarkDelay time.Duration
	interrupts    []interrupt
}

// interrupt ends a watch. With frame set, it is called with the event that follows
// a number of events, before that is sent; otherwise between is, after the last of
// them. The watch is over when they return.
type interrupt struct {
	after   int
	frame   func(w *watcher, event []byte)
	between func(w *watcher)
}
