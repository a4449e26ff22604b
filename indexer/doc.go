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
//     costs one atomic load, stays as it is, and is consistent for ever.
//   - An index is what its function said when the object was stored. The answer
//     is kept, so that a modified object cannot corrupt the index (D14). An index
//     function that fails makes an error, not a panic and not half a write (D13).
//   - The resourceVersion never goes down (D15), and [Reader.WaitRV] returns when
//     everything up to a version is there (G8).
//   - No user code runs with a lock held, and no goroutine is ever started.
//
// What the store cannot guarantee: objects are shared, not copied. Who modifies
// one, modifies it for everybody, and races.
//
// # How it works
//
// Everything that a reader sees hangs on one pointer, to the current [Snapshot]:
//
//	Store ──> Snapshot ──┬── entries      key ──────────────> entry
//	  atomic             ├── namespaces   namespace ──> key ──> entry
//	  pointer            ├── index "a"    value ──────> key ──> entry
//	                     └── resourceVersion
//
// The arrows within are hash tries (trie.go) whose nodes never change once they
// are published. A writer copies the nodes on the way to what it changes, each
// once per transaction, shares all others with the version before, and swaps the
// pointer. So the cost of a write does not depend on how much is stored, and old
// versions live as long as somebody reads them.
//
// The numbers G, D and IX are those of the design's guarantees and of client-go's
// contracts.
package indexer
