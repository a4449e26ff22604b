// Package informer wires the stages into one: a reflector lists and watches a
// source, a DeltaFIFO holds what it saw, the informer drains the queue into an
// indexed store and tells its handlers.
//
//	            Replace, Apply            Pop                 Apply
//	source ──► reflector ─────────► DeltaFIFO ────► informer ───────► store ◄── readers
//	                                                  │
//	                                                  ├──► mailbox ──► handler
//	                                                  └──► mailbox ──► handler
//
// An [Informer] is a cache that is eventually what the server is, and a feed of
// what changed on the way. It is shared: any number of handlers, added before or
// after it runs, are fed from one list and one watch.
//
// # Guarantees
//
// Each has a test of its name.
//
//   - G1 For each key, a handler sees events in the server's order; New of one is
//     Old of the next.
//   - G2 No final state is lost: when the server is quiet, store and handlers
//     reach exactly its state, whatever faults came before. That the server has been
//     restored from a backup is one of them: its versions then go back, and so does
//     that of the store; every object is told as Updated, even in the version that it
//     had. (What can go unnoticed, package reflector says under "Another history".)
//     Synced means complete:
//     what cannot be read, or indexed, is missing or old there, but never in silence.
//     The first sync waits for it, and what becomes unreadable later is named by
//     Healthy and Status, unless reflector.Options.SkipUnreadable chooses to go without.
//   - G3 When a handler runs, the store already holds that event or something
//     newer.
//   - G4 A handler's calls are sequential; handlers don't delay each other.
//   - G5 A handler added late first gets every stored object as initial adds, then
//     all later events, none twice, none missing.
//   - G6 "Synced", for a handler, means that every initial add has returned.
//   - G7 Readers never see a half-replaced store, nor an index that disagrees with
//     it.
//   - G8 WaitRV returns only when everything up to that resourceVersion has been
//     applied. A version of a history that is no more, see G2, is reached when the new
//     one gets there.
//   - G9 A key is never with two workers at once; adds while it is being worked on
//     give exactly one more run. (Package workqueue.)
//   - G10 When Run returns, no goroutine, connection or timer of it remains. (But for a
//     method of the user's that is busy decoding for more than five seconds, with what
//     may be an extreme quantity: see package rest. Nobody can end it.)
//   - G11 Bytes from the network never panic, never grow memory or time beyond stated
//     budgets (depth, memory, bytes, compression, silence: rest.Options), and never end the process; a bad object is reported and visible by key, and the
//     stream goes on. No object that it lacks is taken for deleted.
//
// What is not guaranteed: that a handler sees every state that an object went
// through (a list shows only the last one, and a handler or an informer that falls
// behind may be told less, see [Overflow] and deltafifo.Options.MaxDeltasPerKey),
// any order between two keys or two handlers, and how soon a change is seen.
//
// # Where to find what
//
//   - The store is changed first, then handlers are told: apply in consume.go.
//   - A delta becomes an event, or nothing: replay in replay.go.
//   - A handler is added late: addHandler in informer.go puts a snapshot of the store into its mailbox, and its
//     goroutine, which begins at once, tells it of that: deliverFirst in registration.go. After the last of
//     these calls the handler is synced: marked in firstsync.go.
//   - A handler falls behind: mailbox in mailbox.go.
//   - A resync: resync in informer.go.
//   - A relist, and an object that vanished: package deltafifo. A watch that ends, and 410: package reflector.
//
// # Handlers that fall behind
//
// A handler has a mailbox of 1,024 events ([DefaultMailbox]). A handler that is further behind
// is by default told fewer of them: the informer merges the events of one object, until the mailbox is
// empty. The handler misses states in between, and neither an object nor its last state; for a
// handler that puts keys into a queue nothing changes. A handler that must see every event chooses
// [Block], which holds up the informer, or [Unbounded], which takes the memory:
//
//	inf.AddHandler(audit, informer.HandlerOptions{Name: "audit", Overflow: informer.Block})
//
// A handler for which events have waited ten seconds is named in the log.
//
// # What it says by itself
//
// Failed attempts, panics of handlers, slow handlers and the like go to
// [Options].Logger, which is slog.Default() unless told otherwise, with the informer's
// name: once when they begin, once in five minutes while they last, and once when they
// are over. Options.Reflector.OnError and [Informer.Status] have all of it.
//
// # Beside one informer
//
//   - A [Factory] lets parts of a program share informers, and starts and stops them
//     with their users.
//   - Package sources makes several namespaces one source, and so one store and one set of
//     handlers (sources.Merge), and changes objects on their way (sources.Transform).
//   - [Preload] begins with what an earlier process knew; package warmstart keeps that
//     in a file.
//   - [Run] starts informers, waits for their sync, runs what works with them, and ends all of
//     it in the right order.
//   - Package await waits for an object to be as wanted. (And package
//     rest/finalizer keeps one from going too early.)
//
// # Cached objects are read-only
//
// Store, handlers and other readers share one object. Make a deep copy before you
// change one.
//
// # Goroutines and locks
//
// Run consumes the queue in the goroutine that it is called in, and starts one for
// the reflector and one per handler; it returns when all have ended. Other goroutines
// belong to the source: package rest has one that reads ahead of the reflector,
// and net/http two per connection, which all informers of a client share where the
// server speaks HTTP/2. No handler, transform, index
// function or observer is ever called with a lock held. The informer's one mutex
// guards the set of handlers and whether it runs; each mailbox has its own, which may
// be taken while the informer's is held, and never the other way round.
package informer
