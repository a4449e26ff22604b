package apitest

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Fault selects requests and changes their responses. An empty condition matches everything. If
// several faults match a request, the actions of all of them apply. If two actions exclude each
// other, the action of the fault that was injected later applies.
type Fault struct {
	// Verb is a verb as in [Request].Verb.
	Verb string

	// Resource is the plural name of a resource, such as "pods".
	Resource string

	// Match is a further condition. Match may be called from several goroutines at once, and must
	// not call the server.
	Match func(Request) bool

	// Skip is the number of matching requests that pass before the first hit. Defaults to 0.
	Skip int

	// Times is the number of requests that the fault hits. Defaults to 0: all of them, until the
	// fault is removed.
	Times int

	// Probability is the chance that a request is hit, from 0 to 1, drawn from the server's seeded
	// source. The field Times counts only requests that are hit. The default 0 means 1: every
	// request is hit.
	Probability float64

	// Action is the effect on a request. Required.
	Action Action
}

// InjectedFault is an active fault.
type InjectedFault struct {
	faults *faults
	fault  Fault
	seen   int // guarded by faults.mu
	hits   int // guarded by faults.mu
}

// Inject activates a fault. It affects only requests that arrive later. For open watches, use
// [Server.DropWatches] and [Server.EndWatches].
func (s *Server) Inject(f Fault) *InjectedFault {
	if f.Action.apply == nil {
		panic("apitest: a Fault needs an Action")
	}
	in := &InjectedFault{faults: &s.faults, fault: f}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.active = append(s.faults.active, in)
	return in
}

// Remove deactivates the fault for requests that arrive later. Further calls have no effect.
func (in *InjectedFault) Remove() {
	in.faults.mu.Lock()
	defer in.faults.mu.Unlock()
	in.faults.removeLocked(in)
}

// Hits returns how many requests the fault has hit so far.
func (in *InjectedFault) Hits() int {
	in.faults.mu.Lock()
	defer in.faults.mu.Unlock()
	return in.hits
}

// faults are the active faults.
type faults struct {
	mu     sync.Mutex // guards following
	active []*InjectedFault
	random *rand.Rand
}

func (f *faults) removeLocked(in *InjectedFault) {
	kept := make([]*InjectedFault, 0, len(f.active))
	for _, other := range f.active {
		if other != in {
			kept = append(kept, other)
		}
	}
	f.active = kept
}

// effectsOn returns the combined actions of all faults that hit a request.
func (f *faults) effectsOn(req *Request) *effects {
	combined := &effects{}
	f.mu.Lock()
	candidates := f.active
	f.mu.Unlock()

	for _, in := range candidates {
		if in.fault.matches(req) && f.hit(in) {
			in.fault.Action.apply(combined)
		}
	}
	return combined
}

func (f Fault) matches(req *Request) bool {
	return (f.Verb == "" || f.Verb == req.Verb) &&
		(f.Resource == "" || f.Resource == req.Resource) &&
		(f.Match == nil || f.Match(*req))
}

// hit counts a matching request and reports whether the fault hits it.
func (f *faults) hit(in *InjectedFault) bool {
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

// effects holds the effects of all faults on one request. The zero value has no effect.
type effects struct {
	delay   time.Duration
	respond func(*response) // replaces the normal response

	// Effects on the body.
	contentType    string
	bytesPerSecond int
	cut            bool
	cutAfter       int

	// undecodable is the position of the undecodable object in a list, or of its event in a watch.
	// Positions begin with 1. 0 means that all objects are decodable.
	undecodable int

	// Effects on a watch.
	duplicate     bool
	noEndMarker   bool
	bookmarkDelay time.Duration
	interrupts    []interrupt
}

// interrupt ends a watch after a number of events. If atNext is set, it is called instead of
// sending the next event. If afterLast is set, it is called right after the last sent event. The
// watch ends when the called function returns.
type interrupt struct {
	after     int
	atNext    func(w *watcher, event []byte)
	afterLast func(w *watcher)
}
