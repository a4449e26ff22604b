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
// A [Manager] owns what the controllers of a program share. A [Client] reads objects from a
// cache and writes them to the server. A [Controller] calls a function for each object that has
// changed, or to which something leads that has changed. There are no registries, no schemes
// and no generated code: types are type parameters.
//
// # Order
//
// Run begins the stages in this order, and ends them in the opposite one. It waits for every end.
//
//	parts that are Always, probes
//	└── caches begin
//	    └── caches are complete: parts that are Synced
//	        └── this process leads: parts that are Leading
//	            └── workers of all controllers
//
// So no reconcile reads a cache that is not complete or no longer kept, none runs without the
// lease, and what the last reconcile told a recorder of events is still sent.
//
// # Ends
//
//   - The context of Run ends: workers finish what is queued, for at most
//     Settings.Queue.DrainTimeout, then the lease is given back.
//   - The lease is lost: the context of every reconcile ends at once. Run returns the error.
//   - A cache gives up, a part that is not optional fails: as when the context ends, and Run
//     returns an error that names it.
//   - A reconcile fails or panics: its key is tried again, later and later. Nothing else ends.
//
// # Guarantees
//
//   - For one key, one reconcile runs at a time (G9).
//   - A turn sees what the turns of its key before it wrote, or something newer, in every cache of the
//     manager. It does so by holding the key back until then, and not by waiting in a worker.
//   - When Run returns, no goroutine, connection or timer of it remains (G10).
//   - A mistake in the wiring is an error of Run, all of them at once, before anything starts.
package controller
