// Package indexer is a thread-safe store of objects by key, with an index by
// namespace, indexes of the user's own, and a resourceVersion that says how far
// it is.
//
// # Guarantees
//
//   - One transaction, one step. A reader sees everything that a [Store.Apply]
//     or [Store.Replace] did or nothing of it, in the objects, in every index and
//     in the resourceVersion (G7).
//   - Readers take no lock, wait for nobody and hold up nobody. A [Snapshot]
//     is taken in the same time whatever is stored, stays as it is, and is
//     consistent for as long as it is kept.
//   - The store keeps no version that no reader and no snapshot can see.
//   - An index has the values that its function returned when the object was stored.
//     The store keeps them, so that a modified object cannot corrupt the index (D14).
//     An index function that fails makes an error, not a panic and not half a write
//     (D13).
//   - The resourceVersion never goes down (D15), and [Reader.WaitRV] returns when
//     everything up to a version is there (G8).
//   - No user code runs with a lock held, and no goroutine is ever started.
//
// The store cannot guarantee that an object stays as it is: objects are shared, not
// copied. A reader that modifies an object modifies it for all readers, and races.
//
// # How it works
//
// Each key has a record, and each record the versions of its object, the newest
// first. A view names a revision, the number of a transaction: of each record it
// sees the newest version that is not newer than that.
//
//	                    current view: revision 7, resourceVersion, indexes
//	                       │
//	table: key ──> record ─┴─> version 9 ──> version 7 ──> version 4
//	list of all ─────┤         being written    seen now     kept for a snapshot
//	namespace ───────┤                                       of revision 5
//	index value ─────┘
//
// The one writer puts new versions in front, where no view sees them yet, and then
// publishes the view that does. A version that no view sees any more is taken out.
// Lists and the table are arrays that readers walk while the writer adds to them;
// in a list there may be records that no longer, or not yet, belong to it, which
// readers tell by the version that they see. See docs/adr/0004.
//
// # Where to find what
//
//   - The goroutine that writes an object computes its index values, before it takes the lock: prepare in
//     apply.go calls each IndexFunc. Here, a value of an index is called a term.
//   - An object moves to another value: join in record.go files it there, and leave in record.go takes it out
//     of the old list when no reader sees the old version any more.
//   - A reader waits for a version: WaitRV in waitrv.go.
//   - A reader sees one moment: Snapshot in snapshot.go.
//
// The numbers G, D and IX are those of the design's guarantees and of client-go's
// contracts.
package indexer
