// Package workqueue holds keys that need work: each once, however often it is
// added, and never with two workers at a time. It orders them by priority, is
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
// processing from Get to Done. It is held back while it is parked, or while its
// MinInterval since its last turn is not over. Get serves from the ready keys,
// and everything below follows from this one line:
//
//	ready = dirty - processing - held back
//
// # One queue
//
// What other libraries have as queues around queues is a field of [Options] or
// [AddOptions] here, and all of it can be had together:
//
//   - Delays: [Queue.AddAfter], of which the earliest, the latest or the last stands;
//     [Queue.Cancel] takes back what is due.
//   - Retries: [Queue.Retry] asks the [RateLimiter] for a delay.
//   - Priorities: the highest is handed out first. What the initial list or a resync
//     bring is added with [LowPriority], below live events. Ageing keeps it from starving.
//   - Fairness: groups of keys, such as those of a namespace, take turns by weight.
//   - A least interval between the turns of a key: the first at once, and one more
//     at the end if the key was added meanwhile.
//   - Parking: a key is held back until something has happened, such as that the
//     store has seen what its worker wrote.
//   - Causes: a worker is told why it has a key.
//
// [Queue.Run] is the loop around it that every controller needs. [Queue.Stats],
// [Queue.Inspect] and [Observer] tell what goes on.
//
// # The end
//
// There are two ways to end, because there are two reasons:
//
//   - The right to write is gone: a lease is lost. The context of Run ends, and the
//     context of each reconcile ends with it, at once and with its cause.
//   - The process is asked to end: there may be time to finish what is queued. That
//     is a choice, [Queue.RunUntil], in which a second context stops the intake.
//
// Who leads and is asked to end needs both: the lease is renewed until RunUntil has
// returned, and whatever ends the lease before ends the work as well:
//
//	queue.RunUntil(lead, stop, workers, reconcile)
//
// # Guarantees
//
//   - G9: a key is never with two workers at once, and any number of Adds while
//     it is being worked on give exactly one more run, after Done (WQ-4).
//   - Keys of one priority and group are handed out in the order of their first
//     Add; one that was added again while it was processed goes to the end at its
//     Done (WQ-5), one that was held back when nothing does so any more, and one whose
//     priority was raised to the end of its new one.
//   - No key that is ready starves, whatever else is added: Options.Ageing has the
//     bound.
//   - No goroutine: constructing a queue starts nothing, and delayed keys wait
//     on one timer, which is stopped by ShutDown (G10). A parked key has one
//     goroutine for each of its waits. When Drain has returned nil, no timer, no
//     timer callback and no goroutine is left (D4).
//   - A queue is drained when nothing is ready, dirty or processing (D1), and
//     everyone who waits for that is released (D3).
//   - No hook, limiter, group, wait or reconcile function runs with the queue's
//     lock held.
//   - Keys that are done are not kept in memory (WQ-7), and memory that a burst
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
