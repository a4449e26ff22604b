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
//   - The context of a leader ends before another candidate can take the lease. It ends
//     Options.RenewDeadline after the leader sent its last successful renewal, whenever the
//     answer came. The clock for that counts, on Linux, while the machine is suspended.
//     Other candidates wait for Options.LeaseDuration after they saw that renewal. So the
//     rates of clocks may differ by the ratio of the two, which is 1.5 by default. Nobody
//     compares the times that two clocks show.
//   - If the lease is lost, the context ends with a [*LostError] as its cause, and stays
//     ended.
//   - The Elector renews the lease until the function has returned, and releases it only
//     then.
//   - The server refuses every write if the Lease has changed since it was read.
//   - When Run returns, none of its goroutines, timers and requests remains.
//
// The guarantees hold among candidates that keep the rules. Those on client-go's
// leaderelection do, and use the same Lease, so that a rolling update from one to the other
// has one leader at a time. The guarantees do not hold if somebody edits or deletes the
// Lease, if etcd is restored from a backup, or if a virtual machine is stopped and its kernel
// does not notice.
//
// # What nobody can guarantee
//
// A context stops only code that looks at it. If a process is stopped for a minute, just before
// it sends a request, it sends the request when it goes on, and another candidate may lead by
// then. [Check] looks at the clock, so that it is right at the moment of the call, even after
// such a stop. As [rest.Options].Limit, it lets no request begin after the lease was lost:
//
//	client, err := rest.NewClient(config, rest.Options{Limit: lease.Check})
//
// A request that was sent before may still arrive later. So writes must be conditional, as
// ever: on a resourceVersion or, outside of Kubernetes, on [Term].Transitions, which grows with
// each term.
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
// Caches need not wait for the lease: an informer that runs beside the Elector is synced when
// this process begins to lead. Only code that writes has to wait.
//
// # How soon another leads
//
// After a release, another candidate leads at its next look, within 1.2 RetryPeriod, or at once
// with Options.Watch. After the end of a process that could not release the lease, it takes
// LeaseDuration and a tenth of RetryPeriod from the last renewal that the candidate saw. No
// watch makes that shorter, because nobody can see whether the process lives.
//
// # Several leases
//
// Electors of several leases work side by side in one process. An Elector that runs in the
// function of another one leads while both leases are held. This package does not share leases
// evenly among replicas: that needs a list of the replicas, and work that can be handed over at
// any time.
//
// # Departures from client-go
//
//   - The deadline of the context counts from the moment at which the last successful renewal
//     was sent. In client-go it counts from the beginning of the first attempt after it.
//   - Run waits for the function, releases by default, and returns an error when the lease was
//     lost. There are no callbacks that run at the same time as others.
//   - If a Lease names a candidate's identity, but this candidate has not written it, the
//     candidate takes it for another's. So if two candidates have one identity by mistake,
//     there is one leader, not two. The annotation kinform.io/lease-writer tells them apart, even
//     if both write at the same microsecond. A pod of a StatefulSet, whose name is used again, waits
//     for the lease of its predecessor if that was killed.
//   - If a Lease has no duration, a candidate waits for its own LeaseDuration. If the Lease
//     was deleted, a candidate waits as if it were still there.
//   - The fields strategy and preferred holder, of coordinated leader election, stay as they
//     are.
//
// [workqueue.Queue.Run]: https://pkg.go.dev/github.com/kinform/kinform/workqueue#Queue.Run
// [workqueue.Queue.RunUntil]: https://pkg.go.dev/github.com/kinform/kinform/workqueue#Queue.RunUntil
package lease
