package events

import (
	"slices"
	"sync"
)

// maxSink is the maximum number of events in a Sink.
const maxSink = 100_000

// Sink keeps recorded events, for tests. A Sink is safe for concurrent use.
type Sink struct {
	mu     sync.Mutex // guards following
	events []Event
}

// NewSink returns a Sink, and a Recorder that records to it: each event separately, in order, at
// once, and without a rate limit. There is no server, and Run need not be called.
//
// The Sink keeps the first 100,000 events. Further events count as dropped. Events that a server
// would not accept count as dropped too.
func NewSink() (*Sink, *Recorder) {
	s := &Sink{}
	return s, &Recorder{sink: s}
}

// Events returns the events so far. Each event has its Regarding, and no Object.
func (s *Sink) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// Take returns the events since the last Take.
func (s *Sink) Take() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.events
	s.events = nil
	return events
}

// add keeps an event, and returns false if there is no room.
func (s *Sink) add(e Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.events) >= maxSink {
		return false
	}
	s.events = append(s.events, e)
	return true
}
