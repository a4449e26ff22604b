// Package differential plays random histories to kinform's informer, package plain's and
// client-go's, which all watch one server, and compares the results. It consists only of tests:
//
//	make differential                           # in the root: 10,000 histories
//	cd bench && go test ./differential -seed 17 # one of them again, with its trace
//
// # A history
//
// A history has a few phases. In each phase pods are created, changed and deleted, and handlers are
// added and removed, on all sides alike. About half of the phases have faults: connections break,
// requests fail and events are compacted away. Each side meets a fault at its own next request. A
// phase ends when the server is quiet, all sides watch without a fault, and their stores and
// handlers are idle. Everything runs in a bubble of virtual time, on an in-memory network.
//
// A seed fixes what happens to the server and when, but not the scheduling of goroutines. The
// compared results must not depend on scheduling.
//
// # What is compared
//
// At the end of every phase:
//
//   - All stores hold the server's objects completely. Fields that only a JSON watch has, kind and
//     apiVersion in each object, are ignored.
//   - Notifications are collapsed. An update without a change of version is removed (D11: client-go
//     may report unchanged objects again), and so is a deletion of an object that the handler never
//     received (D16). kinform and plain must not send either of these in the first place.
//   - For each handler and key, the remaining notifications must form one history, on all sides.
//     Only missing objects are added, and only existing ones are updated or deleted. The old object
//     of a notification is the new object of the previous one, and versions rise. The history must
//     end in the server's state.
//   - In a phase that does not change a key, no handler is notified of the key, except new
//     handlers, which receive it as initial.
//   - In a phase without faults all sides must send exactly the same notifications for each key, in
//     the same order. In a phase with faults they may differ: a side that lists again misses
//     intermediate changes, and the sides list again at different times.
package differential
