// Package storage stores the objects of the API server of package apitest, with their history.
//
//	Resource, object ──► Store.Put, Store.Remove ──► Revision ──► Change in the history
//	                                                    │             │
//	                         lists: Store.Snapshot ◄────┘             └────► watches: Store.Read
//
// A [Resource] is a served type in one version. It knows how its objects are decoded, selected and
// merged. A [Store] has the served resources, and the objects of each resource as a
// [SortedRevisions]. A [Revision] has its object as bytes. It makes further encodings when they are
// first needed, and keeps them. A [Selection] has the selectors of a request.
//
// # Guarantees
//
//   - One version counts all writes to all resources. The history has them in this order.
//   - A SortedRevisions is a snapshot, and a Revision and a Change are immutable. So readers need
//     no lock, and delay no writer.
//   - A write replaces the revision that its writer has read, or fails with [ErrStale].
//   - The store shares no memory with the objects that Revision.Object returns. It owns the objects
//     that it gets.
//   - A Store is safe for concurrent use. It starts no goroutine.
package storage
