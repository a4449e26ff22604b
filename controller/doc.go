// Package controller runs a program's reconcile functions. It adds caches, queues, workers, leader
// election and health, all in one Run.
//
//	m, err := controller.New(client, controller.Options{Name: "websites"})
//	which := rest.ResourceOptions{Resource: resource, Kind: "Website"}
//	websites := controller.For[*Website](m, which)
//	deployments := controller.For[*appsv1.Deployment](m, rest.ResourceOptions{})
//	settings := controller.Settings[*Website]{Workers: 4}
//	c := controller.Manage(m, "websites", websites, reconcile, settings)
//	controller.Owns(c, deployments, nil)
//	err = m.Run(ctx)
//
// A [Manager] owns the caches, the lease and the endpoints of a program's controllers. A [Client]
// reads objects from a cache, and writes them to the server. A [Controller] calls a function for
// each object that has changed, or to which a changed object maps. There are no registries, no
// schemes and no generated code: types are type parameters.
//
// # Order
//
// Run begins the stages in this order, and ends them in the opposite order. Run waits for the end
// of each stage.
//
//	parts that are Always, probes
//	└── caches begin
//	    └── caches are complete: parts that are Synced
//	        └── this process leads: parts that are Leading
//	            └── workers of all controllers, once their queues have all keys
//
// So no reconcile reads a cache that is incomplete or has ended, and no reconcile runs without the
// lease. The events of the last reconcile are still sent.
//
// # Ends
//
//   - The context of Run ends: workers finish the queued keys within Settings.Queue.DrainTimeout,
//     and then the lease is released.
//   - The lease is lost: the context of every reconcile ends at once. Run returns the error.
//   - A cache gives up, or a part that is not optional fails: everything ends as it does when the
//     context of Run ends. Run returns an error that names the cache or the part.
//   - A reconcile fails or panics: its key is retried with back-off. Nothing else ends. The same
//     holds for predicates and for functions that map events to keys; see [Manage].
//
// # Guarantees
//
//   - For one key, one reconcile runs at a time (G9).
//   - At the start each object is reconciled once, however many objects map to it.
//   - A reconcile sees the writes of the earlier reconciles of its key, or something newer, in
//     every cache of the manager. The key is held back until then, for two minutes at most; no
//     worker waits. The log and [Manager.Ready] name a key that is reconciled without its write;
//     see [Client].
//   - When Run returns, no goroutine, connection or timer of Run remains (G10).
//   - Run returns all errors in the wiring at once, before anything starts.
package controller
