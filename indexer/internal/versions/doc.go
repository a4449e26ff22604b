// Package versions keeps the objects of a store in versions, so that readers take no lock and see
// all objects at one moment. Package indexer adds types and options.
//
// Each key has a record, and each record has the versions of its object, the newest first. A view
// has a revision, which is the number of a transaction. Of each record, a view sees the newest
// version whose revision is not higher.
//
//	                    current view: revision 7, resourceVersion, indexes
//	                       │
//	table: key ──> record ─┴─> version 9 ──> version 7 ──> version 4
//	set of all ──────┤         being written    seen now     kept for a snapshot
//	namespace ───────┤                                       of revision 5
//	index value ─────┘
//
// The single writer puts new versions in front of the old ones, where no view sees them. Then it
// publishes a view that sees the new versions. It removes each version that no view sees any more.
// The table and the sets are arrays that readers walk while the writer adds to them. A set may have
// records that no longer belong to it, or do not belong to it yet. A reader skips these records:
// the version that it sees has the index values of its object. See docs/adr/0004.
//
// Start with [Engine], then read record.go (versions and records), view.go (which version is kept,
// and how long) and source.go (reading). After these come term.go and set.go (indexes), table.go
// and hash.go (keys), and writelock.go (the lock of writers).
package versions
