package events

import (
	"slices"
	"sync"
)

// maxSink is how many events a Sink keeps.
const maxSink = 100_000

// Sink keeps what is recorded, for tests. It is safe for concurrent use.
type Sink struct {
	mu     sync.Mutex // guards following
	events []Event
}

// NewSink returns a Sink and a Recorder that records to it, each event by itself, in order, at
// once, without limits of rate. There is no server, and Run need not be called.
//
// It keeps the first 100,000 events, and counts the others as dropped, as it does those that
// a server would not take.
func NewSink() (*Sink, *Recorder) {
	s := &Sink{}
	return s, &Recorder{sink: s}
}

// Events returns what was recorded so far. Each event has its Regarding, and no Object.
func (s *Sink) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// Take returns what was recorded since the last Take.
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
