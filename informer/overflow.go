package informer

import "fmt"

// Overflow is the policy for a handler's events when its mailbox is full, because events arrive
// faster than the handler takes them.
type Overflow uint8

const (
	// Coalesce merges events of one key from the moment the mailbox has reached its limit until it
	// is empty again. A handler that keeps up sees every event. A handler that falls behind gets
	// fewer: several updates become one, from the first state to the last. If an object is deleted
	// and created again several times, the objects in between are left out. The mailbox holds at
	// most as many events as its limit, plus three for each key with events. This is the default.
	Coalesce Overflow = iota

	// Block holds up the informer until the handler has taken an event. The reflector then stops as
	// well and reads no more from the watch, so back-pressure reaches the server through the
	// socket. The store and all handlers of the informer wait for a handler that blocks, so G4 does
	// not hold. When the mailbox fills up, events that are already in the queue stay there.
	Block

	// Unbounded keeps every event without a limit on memory, as client-go does.
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
