// Package workqueue holds keys that need work. A key is in the queue once, however often
// it is added, and never with two workers at a time. The queue orders keys by priority, is
// fair to groups, delays, rate-limits and retries, and it can be drained.
//
//	           Add            Get             Done
//	producer -------> ready -------> processing ------> gone
//	    |             ^   ^              |  added again meanwhile?
//	    |             |   '--------------'
//	    | AddAfter    | held back by Park, or by MinInterval
//	    '-------> delayed (one radix heap, one timer)
//
// # The sets
//
// A key is dirty when work on it is due that no worker has begun, and it is
// processing from Get to Done. It is held back while it is parked, or until its
// MinInterval since its last turn is over. Get serves from the ready keys,
// and everything below follows from this one line:
//
//	ready = dirty - processing - held back
//
// queue.go has Add, Get and Done, and what they do to these sets, from top to bottom. The same in its plainest form is
// package plain, workqueue.go: read that first.
//
// # Where to find what
//
//   - A key that is added while a worker has it, or while it is parked, becomes dirty: dirtyLocked in queue.go.
//     It becomes ready when nothing holds it back any more: readyLocked in queue.go, which Done calls by finish in
//     queue.go, and unpark in park.go when the wait is over.
//   - A key that is added later: AddAfter in delay.go, alarms in alarm.go.
//   - A key whose work has failed: outcomeOf in outcome.go, Retry in delay.go.
//   - The workers: RunUntil in run.go, crew in crew.go.
//
// # One queue
//
// Other libraries have queues around queues. Here, each of these is a field of [Options] or
// [AddOptions], and all of them can be had together:
//
//   - Delays: [Queue.AddAfter]. Of several, the earliest, the latest or the last stands;
//     [Queue.Cancel] takes back the turn and the delay.
//   - Retries: [Queue.Retry] asks the [RateLimiter] for a delay.
//   - Priorities: the highest is handed out first. Keys of the initial list and of a resync
//     are added with [LowPriority], below live events. Ageing keeps them from starving.
//   - Fairness: groups of keys, such as those of a namespace, take turns by weight.
//   - A least interval between the turns of a key: the first at once, and one more
//     at the end if the key was added meanwhile.
//   - Parking: a key is held back until something has happened, such as that the
//     store has seen its worker's write.
//   - Causes: a worker is told why it has a key.
//
// [Queue.Run] is the loop around it that every controller needs. [Queue.Stats],
// [Queue.Inspect] and [Observer] show the queue's state and its events.
//
// # The end
//
// There are two ways to end, because there are two reasons:
//
//   - The right to write is gone: a lease is lost. The context of Run ends, and the
//     context of each reconcile ends with it, at once and with its cause.
//   - The process is asked to end. There may be time to finish the keys that are queued. That
//     is a choice, [Queue.RunUntil], in which a second context stops the intake.
//
// A leader that is asked to end needs both: the lease is renewed until RunUntil has
// returned, and if the lease is lost before, the work ends as well:
//
//	queue.RunUntil(lead, stop, workers, reconcile)
//
// # Guarantees
//
//   - A key is never with two workers at once, and any number of Adds while
//     it is being worked on give exactly one more run, after Done (G9).
//   - Keys of one priority and group are handed out in the order in which they became ready there: at
//     their first Add; at Done, if the key was added while it was processed; when Park and MinInterval
//     allow it, if the key was held back; when its priority was raised.
//   - No key that is ready starves, whatever else is added: Options.Ageing has the
//     bound.
//   - No goroutine: constructing a queue starts nothing, and delayed keys wait
//     on one timer, which ShutDown stops. A parked key has one
//     goroutine for each of its waits. When Drain has returned nil, no timer, no
//     timer callback and no goroutine is left.
//   - A queue is drained when no key is ready, dirty or processing. Then every
//     caller of Drain is released.
//   - No hook, limiter, group, wait or reconcile function runs with the queue's
//     lock held. None that panics, or calls runtime.Goexit, loses a key or stops the queue.
//   - Keys that are done are not kept in memory, and memory that a burst
//     needed is given back after it.
//   - A queue in its stride allocates nothing.
//
// A key is any comparable value that equals itself; a struct with a NaN in it
// could never be found again.
//
// # Departures from client-go
//
// docs/contracts.md has each behaviour of client-go's util/workqueue by its number, with the
// test that pins it here, and every difference with its reason. The largest ones: no user
// code runs under a lock, so the order of keys is no plug-in; Drain waits for keys that
// are queued, and ends with its context; [Stats] and [Observer] take the place of metrics
// that a goroutine pushes; AddRateLimited is called Retry.
package workqueue
