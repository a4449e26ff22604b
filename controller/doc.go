// Package controller is what a program of controllers needs beside its reconcile functions:
// caches, queues, workers, leader election, health, all in one Run.
//
//	m, err := controller.New(client, controller.Options{Name: "websites"})
//	websites := controller.For[*Website](m, rest.ResourceOptions{Resource: resource, Kind: "Website"})
//	deployments := controller.For[*appsv1.Deployment](m, rest.ResourceOptions{})
//	c := controller.Manage(m, "websites", websites, reconcile, controller.Settings[*Website]{Workers: 4})
//	controller.Owns(c, deployments, nil)
//	err = m.Run(ctx)
//
// A [Manager] owns the caches, the lease and the endpoints of a program's controllers. A [Client]
// reads objects from a cache, and writes them to the server. A [Controller] calls a function for
// each object that has changed, or to which a changed object leads. There are no registries, no
// schemes and no generated code: types are type parameters.
//
// # Order
//
// Run begins the stages in this order, and ends them in the opposite one. It waits for every end.
//
//	parts that are Always, probes
//	└── caches begin
//	    └── caches are complete: parts that are Synced
//	        └── this process leads: parts that are Leading
//	            └── workers of all controllers, once their queues have all keys
//
// So no reconcile reads a cache that is incomplete or has ended, and none runs without the lease. The
// events of the last reconcile are still sent.
//
// # Ends
//
//   - The context of Run ends: workers finish the queued keys, for at most
//     Settings.Queue.DrainTimeout, and then the lease is released.
//   - The lease is lost: the context of every reconcile ends at once. Run returns the error.
//   - A cache gives up, or a part that is not optional fails: everything ends as when the
//     context ends, and Run returns an error that names the cache or the part.
//   - A reconcile fails or panics: its key is retried, at ever longer intervals. Nothing else
//     ends. The same holds for predicates and for functions that map events to keys; see [Manage].
//
// # Guarantees
//
//   - For one key, one reconcile runs at a time (G9).
//   - At the start each object has one turn, no matter how many objects lead to it.
//   - A turn sees the writes of the earlier turns of its key, or something newer, in every cache of
//     the manager. The key is held back until then, for two minutes at most; no worker waits. A key
//     that goes on without its write is named by the log and [Manager.Ready]; see [Client].
//   - When Run returns, none of its goroutines, connections and timers remains (G10).
//   - Run returns all mistakes in the wiring at once, before anything starts.
package controller
