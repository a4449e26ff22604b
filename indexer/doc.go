// Package indexer is a thread-safe store of objects by key. It has an index by namespace,
// user-defined indexes, and a resourceVersion through which it is complete.
//
// # Guarantees
//
//   - A transaction is one step. A reader sees all changes of a [Store.Apply] or [Store.Replace],
//     or no change: in the objects, in every index and in the resourceVersion (G7).
//   - Readers take no lock, and neither wait for writers nor delay them. A [Snapshot] is taken in
//     constant time, and stays unchanged and consistent for as long as it is kept.
//   - The store keeps no version that no reader and no snapshot can see.
//   - An index has the values that its function returned when the object was stored. The store
//     keeps these values, so that a modified object cannot corrupt the index (D14). If an index
//     function fails, the write returns an error. It does not panic, and does not change only some
//     of the indexes.
//   - The resourceVersion never goes down, except by [Store.ApplyRelist], and
//     [Reader.WaitRV] returns when everything up to a version is in the store (G8).
//   - No user code runs with a lock held, and no goroutine is ever started.
//
// The store cannot guarantee that an object stays as it is: objects are shared, not copied. If a
// reader modifies an object, it does so for all readers, which is a data race.
//
// # How it works
//
// Each key has a record with the versions of its object that a reader can still see, the newest
// first. Each transaction has a number. A snapshot has the number of a transaction, and sees of
// each record the newest version up to that number. A writer puts new versions in front of the old
// ones, which changes nothing for readers. Then it publishes the new versions in one step. The code
// is in indexer/internal/versions, which knows objects only as any; this package adds their types.
// See docs/adr/0004.
//
// # Where to find what
//
//   - The goroutine that writes an object computes its index values before it takes the lock:
//     prepare in apply.go calls each IndexFunc. Internally, a value of an index is called a term.
//   - An object gets another value in an index: the method join in internal/versions/record.go adds
//     it to the set of the new value. When no reader sees the old version any more, the method
//     leave in the same file removes it from the set of the old value.
//   - A reader waits for a version: WaitRV in waitrv.go.
//   - A reader sees the store at one moment: Snapshot in snapshot.go.
//
// Numbers with G are guarantees of package informer. Numbers with D and IX are in
// docs/contracts.md.
package indexer
