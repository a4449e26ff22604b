// Package informer connects the stages. A reflector lists and watches a source, and a DeltaFIFO
// holds the changes. The informer moves them into an indexed store and notifies its handlers.
//
//	            Replace, Apply            Pop                 Apply
//	source ──► reflector ─────────► DeltaFIFO ────► informer ───────► store ◄── readers
//	                                                  │
//	                                                  ├──► mailbox ──► handler
//	                                                  └──► mailbox ──► handler
//
// An [Informer] is a cache that eventually equals the server, and a stream of the changes. It is
// shared: one list and one watch feed any number of handlers, added before or during the run.
//
// # Guarantees
//
// Each guarantee has a test of its name.
//
//   - G1 For each key, a handler sees events in the server's order; New of one event is Old of the
//     next event.
//   - G2 No final state is lost: when the server is quiet, store and handlers reach exactly its
//     state, whatever faults came before. A restore of the server from a backup is one of these
//     faults. The versions of the server and of the store then go back, and every object is
//     reported as Updated, even at an unchanged version. (Package reflector says under "Another
//     history" which restores can go unnoticed.) Synced means complete: an object that cannot be
//     decoded or indexed is missing or old in the store, but never silently. The first sync waits
//     for such objects. Healthy and Status name the objects that become undecodable later, unless
//     reflector.Options.SkipUndecodable is set.
//   - G3 When a handler receives an event, the store already holds that state or a newer one.
//   - G4 A handler's calls are sequential; handlers don't delay each other.
//   - G5 A handler added late first gets every stored object as initial adds, then
//     all later events, none twice, none missing.
//   - G6 "Synced", for a handler, means that every initial add has returned.
//   - G7 Readers never see a half-replaced store, nor an index that disagrees with
//     it.
//   - G8 WaitRV returns only when everything up to that resourceVersion has been applied. After a
//     restore (see G2), a version of the lost history counts as applied when the new history
//     reaches it.
//   - G9 A key is never with two workers at once; adds during a run of the key give exactly one
//     more run. (Package workqueue.)
//   - G10 When Run returns, no goroutine, connection or timer of the informer remains. The
//     exception is a decoding method of the program's type that runs for more than five seconds,
//     perhaps on an extreme quantity (see package rest). Go cannot end that call.
//   - G11 Bytes from the network never panic, never grow memory or time beyond stated budgets, and
//     never end the process. (rest.Options has the budgets: depth, memory, bytes, compression,
//     silence.) A bad object is reported and visible by key, and the stream goes on. An object that
//     cannot be decoded does not count as deleted.
//
// The informer does not guarantee that a handler sees every state of an object, any order between
// two keys or two handlers, or how soon a change is seen. A list shows only the last state. A
// handler or an informer that falls behind may skip states, see [Overflow] and
// deltafifo.Options.MaxDeltasPerKey.
//
// # Where to find what
//
//   - The store changes first, then handlers are notified: apply in consume.go.
//   - A delta becomes an event, or nothing: eventsOf in replay.go.
//   - A handler is added late: AddHandler in informer.go puts a snapshot of the store into its
//     mailbox. The handler's goroutine begins at once and delivers the snapshot: deliverSnapshot in
//     registration.go. When the last of these calls has returned, the handler is synced:
//     finishSnapshot in registration.go.
//   - A handler falls behind: mailbox in mailbox.go.
//   - A resync: resync in informer.go.
//   - A relist, and an object that vanished: package deltafifo. A watch that ends, and 410: package
//     reflector.
//
// # Handlers that fall behind
//
// A handler has a mailbox of 1,024 events ([DefaultMailbox]). If a handler is further behind, the
// informer by default merges the events of one object, until the mailbox is empty. The handler then
// misses intermediate states, but no object and no last state. A handler that only adds keys to a
// queue loses nothing. A handler that must see every event chooses [Block], which holds up the
// informer, or [Unbounded], which uses more memory:
//
//	inf.AddHandler(audit, informer.HandlerOptions{Name: "audit", Overflow: informer.Block})
//
// The log names a handler whose events have waited for ten seconds.
//
// # Logging
//
// Failed attempts, handler panics, slow handlers and similar problems go to [Options].Logger with
// the informer's name. It defaults to slog.Default(). Each problem is logged when it begins, every
// five minutes while it lasts, and when it is over. Options.Reflector.OnError and [Informer.Status]
// have the details.
//
// # Beside one informer
//
//   - A [Factory] lets parts of a program share informers, and starts and stops them
//     with their users.
//   - Package sources combines several namespaces into one source, with one store and one set of
//     handlers (sources.Merge). It also changes objects before they are stored (sources.Transform).
//   - [Preload] starts with the objects of an earlier process; package warmstart keeps these in a
//     file.
//   - [Run] starts informers, waits for their sync, runs the program's workers, and ends all of
//     it in the right order.
//   - Package await waits until an object satisfies a condition. (Package rest/finalizer keeps an
//     object from being deleted too early.)
//
// # Preloaded objects
//
// [Preload] checks the history of the server. If the version has expired on the server, only a list
// can detect another history, and handlers receive the preloaded objects before that list. Each
// listed object with a version up to resourceVersion must be among the preloaded objects, with the
// same version. Otherwise the informer lists again and replaces all preloaded objects.
//
// If an index function refuses a preloaded object, the store lacks the object, and the informer
// lists at once. Two cases of another history go undetected. In the first, that history has the
// same object, at the same version, as its last change up to resourceVersion. In the second, the
// version has expired, and all objects unchanged since then have their former versions.
//
// The informer is synced when the server has agreed to resume the watch, or when the list is in the
// store. Preloaded objects alone do not make it synced. After the watch is resumed, its events
// arrive one by one. Until then, a synced store may have the earlier state. To wait for a version,
// use WaitRV.
//
// # Cached objects are read-only
//
// Store, handlers and other readers share one object. Make a deep copy before you
// change one.
//
// # Goroutines and locks
//
// Run consumes the queue in the goroutine that calls it, and starts one goroutine for the reflector
// and one for each handler. Run returns when all of them have ended. Other goroutines belong to the
// source. Package rest has a goroutine that reads ahead of the reflector. net/http has two
// goroutines for each connection. Over HTTP/2, all informers of a client share one connection. No
// handler, transform, index function or observer is ever called with a lock held. The informer's
// one mutex guards the set of handlers and the phase. Each mailbox has a mutex of its own, which
// may be locked while the informer's is held, but not the other way round.
package informer
