package workqueue

import "time"

// AddOptions says how a key is added. With the zero value, AddWith is Add.
type AddOptions struct {
	// Priority orders the ready keys: higher priorities are handed out first, and Options.Ageing
	// keeps lower priorities from starving. If a key is added several times before its run, the
	// highest priority counts. A key whose priority is raised goes behind the keys that are ready
	// at the new priority. Use few different priorities at a time, dozens and not thousands.
	// Defaults to 0; LowPriority is for work without urgency.
	Priority int

	// After is how long to wait until the key is added; zero or negative means at once. A key has
	// at most one delay.
	After time.Duration

	// Delay decides which time applies if the key already has a delay. Defaults to Earliest.
	Delay DelayMode

	// Cause says why the key is added, in few words and from a small set, such as "secret changed".
	// See Causes. Defaults to "": no cause.
	Cause string
}

// LowPriority is a priority for work without urgency: the keys of the initial list and of a resync.
const LowPriority = -100

// AddWith is Add with a priority, a delay, and a cause.
func (q *Queue[K]) AddWith(key K, opts AddOptions) {
	if opts.After > 0 || opts.Delay != Earliest {
		q.addLater(key, opts)
	} else {
		q.addNow(key, opts.Priority, opts.Cause)
	}
}

// mergeLocked merges an add into the pending run of a dirty key. A higher priority moves the key
// among the ready keys.
func (q *Queue[K]) mergeLocked(e *entry[K], added run) {
	q.stats.Merged++
	raised := e.ready() && added.priority > e.pending.priority
	if raised {
		q.ready.remove(e)
	}
	q.causeTable.merge(&e.pending, added)
	if raised {
		q.ready.push(e)
	}
}
