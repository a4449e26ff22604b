// Package versions keeps the objects of a store in versions, so that readers take no lock
// and see one moment of all objects. Package indexer is its face, with types and options.
//
// Each key has a record, and each record has the versions of its object, the newest
// first. A view names a revision, the number of a transaction. Of each record, a view
// sees the newest version whose revision is not higher.
//
//	                    current view: revision 7, resourceVersion, indexes
//	                       │
//	table: key ──> record ─┴─> version 9 ──> version 7 ──> version 4
//	set of all ──────┤         being written    seen now     kept for a snapshot
//	namespace ───────┤                                       of revision 5
//	index value ─────┘
//
// The one writer puts new versions in front of the old ones, where no view sees them, and
// then publishes the view that sees them. It takes out each version that no view sees any
// more. The table and the sets are arrays that readers walk while the writer adds to them.
// A set may have records that belong to it no longer, or not yet: the version that a
// reader sees names the index values of its object. See docs/adr/0004.
//
// Start with [Engine], then read record.go (versions and records), view.go (who keeps which
// version), source.go (reading), term.go and set.go (indexes), table.go and hash.go (keys),
// and turn.go (the lock of writers).
package versions
