package workqueue

import "time"

// AddOptions says how a key is added. With the zero value, AddWith is Add.
type AddOptions struct {
	// Priority orders the keys that are ready: those of a higher one are handed
	// out first, and Options.Ageing keeps the others from starving. A key that is
	// added several times before its turn has the highest of its priorities; one
	// whose priority is raised goes behind those that are ready at the new one.
	// There should be few different ones at a time, dozens and not thousands.
	// Defaults to 0; LowPriority is for work that nobody waits for.
	Priority int

	// After is how long to wait until the key is added; not positive means at
	// once. A key has one time to be added at.
	After time.Duration

	// Delay says which time stands when the key has one already. Defaults to
	// Earliest.
	Delay DelayMode

	// Cause says why, in few words of which there are few kinds, such as
	// "secret changed". See Causes. Defaults to "": not said.
	Cause string
}

// LowPriority is the priority, for AddOptions, of work that nobody waits for:
// the keys of the initial list and of a resync.
const LowPriority = -100

// AddWith is Add with a priority, a delay, and a cause.
func (q *Queue[K]) AddWith(key K, how AddOptions) {
	if how.After > 0 || how.Delay != Earliest {
		q.addLater(key, how)
	} else {
		q.addNow(key, how.Priority, how.Cause)
	}
}

// mergeLocked adds to the turn that is due on a dirty key. A higher priority gives it another place among the ready keys.
func (q *Queue[K]) mergeLocked(e *entry[K], due turn) {
	q.stats.Merged++
	raised := e.ready() && due.priority > e.due.priority
	if raised {
		q.ready.remove(e)
	}
	q.whys.merge(&e.due, due)
	if raised {
		q.ready.push(e)
	}
}
