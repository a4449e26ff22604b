package conformance

import "testing"

// Queue is the interface of the queue suite: a queue of deltas with its consumer and the consumer's
// store.
type Queue interface {
	Add(*Object) error
	Update(*Object) error
	Delete(*Object) error
	Replace(list []*Object, resourceVersion string) error
	Resync() error
	Close()

	// Take pops everything that is pending, and applies it to the consumer's store. There is one
	// stack per key, in the order in which the keys came out. The result closed means that nothing
	// was pending, and that the queue is closed.
	Take() (stacks []Stack, closed bool)

	// Synced reports whether the consumer has taken the first Replace.
	Synced() bool
}

// Stack has the deltas of one key as text, such as "a: Added@1 Deleted?@1". "?" marks a tombstone.
// The types are Added, Updated, Deleted, Replaced and Sync.
type Stack string

// TestQueue runs the suite on the queues that the function open makes.
func TestQueue(t *testing.T, open func() Queue, differences Differences) {
	verify(t, queueCases, open, differences, runOnce)
}

// Stacks builds the text form of stacks.
type Stacks struct {
	order []string
	text  map[string]string
}

// Add adds a delta.
func (s *Stacks) Add(name, deltaType string, unknown bool, version string) {
	if s.text == nil {
		s.text = map[string]string{}
	}
	if _, ok := s.text[name]; !ok {
		s.order = append(s.order, name)
		s.text[name] = name + ":"
	}
	separator := "@"
	if unknown {
		separator = "?@"
	}
	s.text[name] += " " + deltaType + separator + version
}

// All returns the stacks, in the order of their first deltas.
func (s *Stacks) All() (all []Stack) {
	for _, name := range s.order {
		all = append(all, Stack(s.text[name]))
	}
	return all
}
