package informer

import "fmt"

// Overflow says what happens to a handler's events when they arrive faster than
// the handler takes them and its mailbox has reached its limit.
type Overflow uint8

const (
	// Coalesce merges events of one key from the moment the mailbox has reached
	// its limit until it is empty again. A handler that keeps up sees every event;
	// one that falls behind is told what became of each key in fewer steps: updates
	// become one update from the first state to the last, and of an object that
	// came and went again and again only the first time and the last. Memory is
	// bounded by the limit and three events per key that something happened to.
	// This is the default.
	Coalesce Overflow = iota

	// Block holds up the informer until the handler has taken an event, and with it
	// the reflector, which then reads no more from the watch: back-pressure reaches
	// the server through the socket. All handlers of the informer wait for one that
	// blocks (G4 gives way), and so does the store. Events that the queue held already when
	// the mailbox filled up wait there.
	Block

	// Unbounded keeps every event, whatever memory that takes, as client-go does.
	Unbounded
)

// String returns the name of the policy in lower case.
func (o Overflow) String() string {
	switch o {
	case Coalesce:
		return "coalesce"
	case Block:
		return "block"
	case Unbounded:
		return "unbounded"
	default:
		return fmt.Sprintf("Overflow(%d)", uint8(o))
	}
}
