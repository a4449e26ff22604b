// Package workqueue holds keys that need work. A key is in the queue at most once, however often it
// is added, and never with two workers at a time. The queue orders keys by priority, is fair to
// groups, delays, limits rates, retries, and can be drained.
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
// A key is dirty when it needs a run that no worker has begun, and it is processing from Get to
// Done. A key is held back while it is parked, or until MinInterval has passed since its last run
// began. Get serves the ready keys, and everything below follows from this one line:
//
//	ready = dirty - processing - held back
//
// queue.go has Add and Done, get.go has Get, and both show the effects on these sets. workqueue.go
// of package plain is the textbook version: read that first.
//
// # Where to find what
//
//   - A key that is added while a worker has it, or while it is parked, becomes dirty: dirtyLocked
//     in queue.go. The key becomes ready when nothing holds it back: readyLocked in queue.go. Done
//     calls readyLocked through finish in queue.go. The end of a wait calls readyLocked through
//     unpark in park.go.
//   - The state of a key: entry in entry.go. The queue finds the entry with table in table.go.
//   - The order of the ready keys, by priority and group: readyKeys in ready.go.
//   - A key that is added later: AddAfter in delay.go, and MinInterval: beginIntervalLocked in
//     timer.go. The times are sorted by alarms in alarm.go.
//   - A key that failed: classify in result.go, Retry in delay.go, RateLimiter in limiter.go,
//     failureLog in failurelog.go.
//   - The workers: RunUntil in run.go, workerSet in workers.go.
//   - The end: ShutDown and Drain in drain.go.
//   - The view from outside: Stats and Inspect in stats.go, Observer in observer.go.
//
// # One queue
//
// Other libraries wrap queues in queues. Here each feature is a field of [Options] or [AddOptions]
// or a method, and the features can be combined:
//
//   - Delays: [Queue.AddAfter]. Of several delays, the earliest, the latest or the last counts;
//     [Queue.Cancel] removes the pending run and the delay.
//   - Retries: [Queue.Retry] gets the delay from the [RateLimiter].
//   - Priorities: the highest priority is handed out first. Keys of the initial list and of a
//     resync are added with [LowPriority], below live events. Ageing keeps low priorities from
//     starving.
//   - Fairness: groups of keys, such as namespaces, take turns by weight.
//   - A minimum interval between the runs of a key: the first run is immediate, and one more
//     follows at the end of the interval if the key was added meanwhile.
//   - Parking: a key is held back until a function returns, for instance until the store has its
//     worker's write.
//   - Causes: a worker can read why it has a key.
//
// [Queue.Run] is the worker loop that every controller needs. [Queue.Stats], [Queue.Inspect] and
// [Observer] show the queue's state and its events.
//
// # The end
//
// There are two ways to end, for two reasons:
//
//   - The right to write is lost, as with a lease. The context of Run ends. The context of each
//     reconcile ends at once, with the same cause.
//   - The process is asked to stop. There may be time to finish the queued keys. [Queue.RunUntil]
//     does this: its second context stops the intake.
//
// A leader that is asked to stop needs both contexts. The lease is renewed until RunUntil has
// returned. If the lease is lost earlier, the work ends at once:
//
//	queue.RunUntil(lead, stop, workers, reconcile)
//
// # Guarantees
//
//   - A key is never with two workers at once. Any number of Adds during a run give exactly one
//     more run, after Done (G9).
//   - Keys of one priority and group are handed out in the order in which they became ready. A key
//     becomes ready at its first Add, or at Done if it was added while it was processed. A key that
//     is held back becomes ready when Park and MinInterval allow it. A raised priority counts as
//     becoming ready again.
//   - No ready key starves, whatever else is added: Options.Ageing documents the bound.
//   - No goroutine: New starts no goroutine, and delayed keys wait on one timer, which ShutDown
//     stops. A parked key has one goroutine for each of its waits. When Drain has returned nil, no
//     timer, timer callback or goroutine is left.
//   - A queue is drained when no key is ready, dirty or processing. Then every
//     caller of Drain is released.
//   - The queue's lock is not held while a hook, limiter, group, wait or reconcile function runs.
//     If one of them panics or calls runtime.Goexit, no key is lost and the queue goes on.
//   - The queue does not keep keys that are done, and returns the memory of a burst.
//   - A queue in steady state allocates nothing.
//
// A key is any comparable value that equals itself; a struct that contains NaN could never be found
// again.
//
// # Results of a reconcile
//
// The result of a reconcile function may be wrapped, and may combine several errors, as errors.Join
// does. [Queue.Run] documents single results. For several results in one these rules apply:
//
//   - An error that is neither a requeue request nor dropped wins. The whole result is reported
//     unchanged, the key keeps its failures and is added again, rate-limited. Requeue requests
//     beside such an error are ignored, because the key runs again anyway.
//   - If all errors are dropped, the key is forgotten, and requeue requests beside the errors are
//     honoured. A Drop that wraps a requeue request counts as the request.
//   - Of several RequeueAfter the earliest counts. With several RequeueWhen, the key waits for all
//     of them. RequeueWhen wins over RequeueAfter.
//
// A panic in reconcile counts as a failure, a *PanicError that is logged with its stack. So one
// faulty key ends neither the process nor the work on other keys. If a panic should end the
// process, let reconcile recover and exit. A call of runtime.Goexit, as in testing's FailNow, also
// counts as a failure, and a new worker replaces the ended worker. If an error's Unwrap, Is, As or
// Error panics, or its Unwrap never ends, the failure is a *PanicError instead. A nil pointer of an
// error type is a failure, whose text names the nil pointer.
//
// # Departures from client-go
//
// docs/contracts.md lists each behaviour of client-go's util/workqueue by its number, with the test
// that pins it here, and every difference with its reason. The largest differences: no user code
// runs under a lock, so the order of keys is not pluggable. Drain waits for queued keys, and ends
// with its context. [Stats] and [Observer] replace metrics that a goroutine pushes. AddRateLimited
// is called Retry.
package workqueue
