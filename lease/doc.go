// Package lease elects a leader among processes, with an object of type Lease in the API server.
// Only one of several copies of a controller works at a time. When this copy ends, another copy
// takes over.
//
//	          reads every 2 s                 renews every 2 s
//	candidate ---------------> [Lease] <--------------- leader
//	    |  no change for 15 s:                 |  no renewal for 10 s:
//	    '--> writes itself, and leads          '--> its context ends
//
// An [Elector] is one candidate for one Lease. [Elector.Run] calls a function while it leads:
//
//	name := types.NamespacedName{Namespace: "default", Name: "greeter"}
//	elector, err := lease.New(client, name, lease.Options{})
//	...
//	err = elector.Run(ctx, func(ctx context.Context) error {
//		return queue.Run(ctx, workers, reconcile)
//	})
//
// For several leases, such as one for each shard of the keys, use several Electors.
//
// # Guarantees
//
//   - The context of a leader ends before another candidate can take the lease. This context ends
//     Options.RenewDeadline after the leader sent its last successful renewal, however late the
//     response was. On Linux, this time also counts while the machine is suspended. Other
//     candidates wait for Options.LeaseDuration after they saw that renewal. So the rates of two
//     clocks may differ by the ratio of these options, which is 1.5 by default. The times that two
//     clocks show are never compared.
//   - If the lease is lost, the context ends with a [*LostError] as its cause, and stays
//     ended.
//   - The Elector renews the lease until the function has returned, and releases it only
//     then.
//   - The server refuses every write if the Lease has changed since it was read.
//   - When Run returns, no goroutine, timer or request of Run remains.
//
// The guarantees hold among candidates that follow these rules. Candidates on client-go's
// leaderelection follow them, and use the same Lease: a rolling update from one to the other has
// one leader at a time. The guarantees do not hold if someone edits or deletes the Lease, or if
// etcd is restored from a backup. Nor do they hold if a virtual machine is stopped and its kernel
// does not notice.
//
// # What nobody can guarantee
//
// A context stops only code that checks it. If a process is stopped for a minute just before it
// sends a request, it sends the request when it resumes. Another candidate may lead by then.
// [Check] reads the clock, so it is right at the moment of the call, even after such a stop. As
// [rest.Options].Limit, Check lets no request begin after the lease was lost:
//
//	client, err := rest.NewClient(config, rest.Options{Limit: lease.Check})
//
// A request that was sent before may still arrive later. So writes must still be conditional: on a
// resourceVersion or, outside of Kubernetes, on [Term].Transitions, which grows with each term.
//
// # The end
//
// A leader can end in two ways, for two reasons:
//
//   - The lease is lost. The context ends, and all work must end with it, at once.
//     [workqueue.Queue.Run] ends each reconcile then.
//
//   - The process is asked to stop, and may want to finish its queue.
//
// A leader that is asked to stop needs two contexts for these two ends. [Elector.RunUntil] provides
// them, like [workqueue.Queue.RunUntil]:
//
//	elector.RunUntil(ctx, stop, func(lead context.Context) error {
//		return queue.RunUntil(lead, stop, workers, reconcile)
//	})
//
// Caches need not wait for the lease: an informer that runs beside the Elector is synced when
// this process begins to lead. Only code that writes has to wait.
//
// # How soon another candidate leads
//
// After a release, another candidate leads at its next read, within 1.2 RetryPeriod, or at once
// with Options.Watch. If a process could not release the lease, another candidate takes it
// LeaseDuration and a tenth of RetryPeriod after the last renewal that it saw. A watch does not
// shorten this, because nothing shows whether the process is alive.
//
// # Several leases
//
// Electors of several leases work side by side in one process. An Elector that runs in the function
// of another one leads while both leases are held. This package does not distribute leases evenly
// among replicas: this would need a list of the replicas, and work that can be handed over at any
// time.
//
// # Departures from client-go
//
//   - The deadline of the context counts from the moment when the last successful renewal was sent.
//     In client-go the deadline counts from the beginning of the next attempt.
//   - Run waits for the function, releases by default, and returns an error when the lease was
//     lost. There are no concurrent callbacks.
//   - If a Lease names a candidate's identity, but this candidate did not write it, the candidate
//     treats the Lease as another's. So if two candidates have one identity by mistake, there is
//     still one leader. The annotation kinform.io/lease-writer distinguishes the two candidates,
//     even if both write at the same microsecond. A pod of a StatefulSet reuses the name of its
//     predecessor. If the predecessor was killed, the new pod waits until the predecessor's lease
//     has expired.
//   - If a Lease has no duration, a candidate uses its own LeaseDuration. If the Lease was deleted,
//     a candidate waits as if it were still there.
//   - The fields strategy and preferred holder of coordinated leader election are left unchanged.
//
// [workqueue.Queue.Run]: https://pkg.go.dev/github.com/kinform/kinform/workqueue#Queue.Run
// [workqueue.Queue.RunUntil]: https://pkg.go.dev/github.com/kinform/kinform/workqueue#Queue.RunUntil
package lease
