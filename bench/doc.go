// Package bench measures kinform against client-go, side by side, in one run and
// on the same bytes, and package plain, the textbook's pipeline, beside them. It is a module of its own, so that nobody who uses kinform
// gets client-go with it.
//
//   - footprint: what a program with a pod informer weighs, and how fast it starts.
//   - latency: how long an event takes from the server's write to the handlers, and
//     how many goroutines an informer has.
//   - store: what reads, writes and iterations of the store cost.
//   - queue: what the work queue costs, how long keys wait in it, and how fair it is;
//     against controller-runtime's as well.
//   - conformance: the contracts, as client-go keeps them and does not.
//   - differential: random histories, played to both informers and compared.
//   - sync: what the first sync, a relist and a watch at full speed cost, in time,
//     memory and CPU.
//   - controller: one controller on packages controller and lease, and on controller-runtime;
//     it has a README.md of its own.
//   - events: what recording events costs.
//   - tricks: what of all that is in plain/README.md.
//
// README.md says how to run and read them.
package bench
