// Package workqueue holds keys that need work: each once, however often it is
// added, and never with two workers at a time. It delays, rate-limits and
// retries, and it can be drained.
//
//	           Add            Get             Done
//	producer -------> ready -------> processing ------> gone
//	    |               ^                |  added again meanwhile?
//	    | AddAfter      |                '-------> back to ready
//	    '-------> delayed (one heap, one timer)
//
// # The three sets
//
// A key is dirty when work on it is due that no worker has begun, and it is
// processing from Get to Done. The ready queue, from which Get serves, holds the
// keys that are dirty and not processing, in the order in which they became so.
// Everything below follows from this one line:
//
//	ready = dirty - processing
//
// # Guarantees
//
//   - G9: a key is never with two workers at once, and any number of Adds while
//     it is being worked on give exactly one more run, after Done (WQ-4).
//   - Keys are handed out in the order of their first Add; one that was added
//     again while it was processed goes to the end at its Done (WQ-5).
//   - No goroutine: constructing a queue starts nothing, and delayed keys wait
//     on one timer, which is stopped by ShutDown (G10). When Drain has returned
//     nil, no timer and no timer callback is left (D4).
//   - A queue is drained when nothing is ready, dirty or processing (D1), and
//     everyone who waits for that is released (D3).
//   - No hook, limiter or reconcile function runs with the queue's lock held.
//   - Keys that are done are not kept in memory (WQ-7), and memory that a burst
//     needed is given back after it.
//
// A key is any comparable value that equals itself; a struct with a NaN in it
// could never be found again.
//
// # Departures from client-go
//
// The contracts WQ-1 to WQ-35 describe client-go's util/workqueue. They are kept,
// and each is cited by the test that pins it, except for these, left on purpose:
//
//   - WQ-8, a custom Queue called under the lock: no user code runs under a
//     lock, so the order is not pluggable; there is no Touch in WQ-1 either.
//   - WQ-9, WQ-15, WQ-17, WQ-26 are defects; D1 to D4 replace them.
//   - WQ-12, a ShutDown releases those who wait for a drain: Drain ends with its
//     context instead, so it cannot be cut short by someone else.
//   - WQ-16, metrics pushed to a provider every 0.5 s by a goroutine: [Stats] and
//     [Observer] have the same numbers (Dirty is the depth, OnGet the latency,
//     OnDone the work duration), pulled when wanted.
//   - WQ-24, AddAfter blocks when 1000 hand-overs wait: there is no hand-over.
//   - WQ-25, a 10 s heartbeat against jumps of the clock: timers and durations
//     here use the monotonic clock, which does not jump.
//   - WQ-34, the default item-based limiter: it is Exponential(time.Millisecond,
//     1000*time.Second), and needs no name of its own.
//   - WQ-35, ParallelizeUntil is no part of a queue.
package workqueue
