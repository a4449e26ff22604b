// Package lease elects a leader among processes, by an object of type Lease in the API
// server: of several copies of a controller one works, and another takes over when it ends.
//
//	          looks every 2 s                 renews every 2 s
//	candidate ---------------> [Lease] <--------------- leader
//	    |  no change for 15 s:                 |  no renewal for 10 s:
//	    '--> writes itself, and leads          '--> its context ends
//
// An [Elector] is one candidate for one Lease. [Elector.Run] calls a function while it leads:
//
//	elector, err := lease.New(client, types.NamespacedName{Namespace: "default", Name: "greeter"}, lease.Options{})
//	...
//	err = elector.Run(ctx, func(ctx context.Context) error {
//		return queue.Run(ctx, workers, reconcile)
//	})
//
// [Together] makes one function of those of several controllers. Several leases, such as
// one for each shard of the keys, are several Electors.
//
// # Guarantees
//
//   - The context of a leader ends before another can take the lease: Options.RenewDeadline
//     after it sent the last renewal that succeeded, whatever becomes of the answers, and by a
//     clock that counts, on Linux, while the machine is suspended. Others wait Options.LeaseDuration from
//     when they saw that renewal, so that clocks may run at rates that differ by the
//     ratio of the two, 1.5 by default. What clocks show counts for nothing, on no side.
//   - It ends with a [*LostError] as its cause, and never comes back to life.
//   - The lease is released only when the function has returned, and renewed until then.
//   - Every write is refused by the server if the Lease has changed since it was read.
//   - When Run returns, no goroutine, timer or request of it remains.
//
// These hold among candidates that keep to the rules, which those on client-go's leaderelection do: the
// Lease is the same, so that a rolling update from one to the other has one leader at a time. They do not
// hold where somebody edits or deletes the Lease, where etcd is set back to a backup, or for a
// virtual machine that is stopped without its kernel knowing.
//
// # What nobody can guarantee
//
// A context is a fence for who looks at it. A process that is stopped, for a minute, just before it sends
// a request, sends it when it goes on: the lease may be another's by then. [Check] looks
// at the clock, so that it is exact at the moment at which it is called, also right after such a stop;
// it makes a good [rest.Options].Limit, by which no request begins after the lease was lost:
//
//	client, err := rest.NewClient(config, rest.Options{Limit: lease.Check})
//
// What was sent before arrives whenever it arrives. So writes are conditional as ever: on a resourceVersion, or, outside
// of Kubernetes, on [Term].Transitions, which grows with each term.
//
// # The end
//
// There are two ways for a leader to end, because there are two reasons:
//
//   - The lease is lost. The context ends, and everything must end with it, at once.
//     [workqueue.Queue.Run] ends each reconcile then.
//
//   - The process is asked to end, and may want to finish what is queued.
//
// A leader that is asked to end needs both, and [Elector.RunUntil] has them, as
// [workqueue.Queue.RunUntil] has:
//
//	elector.RunUntil(ctx, stop, func(lead context.Context) error {
//		return queue.RunUntil(lead, stop, workers, reconcile)
//	})
//
// Caches need not wait for the lease: an informer that runs beside the Elector is in step when
// its turn comes. Only what writes waits.
//
// # How soon another leads
//
// After a release: at the next look, in up to 1.2 RetryPeriod, or at once with Options.Watch. After the end of
// a process that could not release: in LeaseDuration and a tenth of RetryPeriod after the last renewal was
// seen, and no watch makes that shorter, as what cannot be seen is whether the process lives.
//
// # Several leases
//
// Electors of several leases work side by side in one process, and one that runs inside the function of
// another leads while both are held. Nothing here shares leases evenly among replicas: that takes
// a list of who there is, and work that can be handed over at any time.
//
// # Departures from client-go
//
//   - The end of the context counts from when the last renewal was sent. In client-go it counts from
//     when the first renewal after it was begun.
//   - Run waits for the function, releases by default, and returns an error when the lease was
//     lost. There are no callbacks that run at the same time as others.
//   - A Lease that names a candidate's identity, and that it has not written, is another's. So identities that are
//     given twice by mistake make one leader, not two; and one that is used again, such as a pod's name in a
//     StatefulSet, waits for the lease of its predecessor, if that was killed.
//   - A Lease that says nothing of its duration is waited for as long as one of the candidate's own,
//     and one that was deleted, as long as if it were there.
//   - Strategy and preferred holder, of coordinated leader election, are left as they are.
//
// [workqueue.Queue.Run]: https://pkg.go.dev/github.com/kinform/kinform/workqueue#Queue.Run
// [workqueue.Queue.RunUntil]: https://pkg.go.dev/github.com/kinform/kinform/workqueue#Queue.RunUntil
package lease
