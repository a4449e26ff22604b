// Package bench measures kinform against client-go side by side, in one run and on the same bytes.
// It also measures package plain, the textbook pipeline. bench is a separate module, so that users
// of kinform do not get client-go with it.
//
//   - footprint: the size and start-up time of a program with a pod informer.
//   - latency: how long an event takes from the server's write to the handlers, and how many
//     goroutines an informer has.
//   - store: the cost of reads, writes and iterations of the store.
//   - queue: the cost of the work queue, how long keys wait in it, and how fair it is;
//     controller-runtime's queue is measured as well.
//   - conformance: the contracts that client-go keeps, and the contracts that it breaks.
//   - differential: random histories of a server, which all informers watch, and a comparison of
//     their results.
//   - sync: the cost of the first sync, a relist and a watch at full speed, in time, memory and
//     CPU.
//   - controller: one controller on packages controller and lease, and on controller-runtime;
//     it has a README.md of its own.
//   - events: the cost of recording events.
//   - tricks: the excerpt of these measurements in plain/README.md.
//
// README.md explains how to run them and read the results.
package bench
