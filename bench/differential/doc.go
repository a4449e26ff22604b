// Package differential plays random histories to kinform's informer, to that of
// package plain and to client-go's, all watching one server, and compares what they
// make of them. It has nothing but tests:
//
//	make differential                           # in the root: 10,000 histories
//	cd bench && go test ./differential -seed 17 # one of them again, with its trace
//
// # A history
//
// A history has a few phases. In each, pods are created, changed and deleted, and
// handlers come and go, on all sides alike. A calm phase has nothing else; in a
// stormy one connections break, requests fail, events are compacted away, for each
// side at its own next request. A phase ends when the server is quiet, both sides
// watch without a fault, and their stores and handlers have come to rest. All of it
// happens in a bubble of virtual time, on a network in memory.
//
// A seed fixes what happens to the server and when, but not how goroutines take
// turns; what is compared must not depend on the latter.
//
// # What is compared
//
// At the end of every phase:
//
//   - All stores hold the server's objects, whole. What a JSON watch alone has, kind and apiVersion
//     in each object, does not count.
//   - Notifications are collapsed: an update whose old and new version are the same
//     goes (D11: client-go may tell of unchanged objects again), and so does the
//     deletion of what a handler was never told of (D16). From kinform and from plain neither is
//     accepted in the first place.
//   - For each handler and key, what is left must be one history of existence, on
//     all sides: added only what is gone, updated or deleted only what is there,
//     old the new of before, versions rising. It must end in the server's state.
//   - A key that nobody touched in a phase is not told of in it, but to handlers
//     that are new, which are told of it as initial.
//   - In a calm phase the sides must have told exactly the same of each key, in
//     the same order. In a stormy one they need not: who lists again does not see
//     what was overwritten meanwhile, and they differ in when they list again.
package differential
