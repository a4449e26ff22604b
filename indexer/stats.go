package indexer

// Counts counts the outcomes of ops.
type Counts struct {
	// Added, Updated and Deleted count the objects that were new, replaced and removed. A Delete of
	// a missing key does not count.
	Added, Updated, Deleted uint64

	// Failed counts the ops that were left out because an index function returned an error.
	Failed uint64
}

// Stats has the numbers of a store.
type Stats struct {
	// Counts are totals since the store was made.
	Counts

	// Objects is the number of objects.
	Objects int

	// ResourceVersion is [Snapshot.ResourceVersion], and Revision is [Snapshot.Revision]. These
	// two, Objects and Counts are of one moment; the fields below may be one transaction ahead.
	ResourceVersion string
	Revision        uint64

	// Namespaces is the number of namespaces that have objects. Objects without a namespace
	// do not count.
	Namespaces int

	// Indexes has, by the name of an index, the number of values that are in use.
	Indexes map[string]int

	// Waiting is the number of calls of [Reader.WaitRV] that are blocked.
	Waiting int
}

// Stats returns the numbers of the store. Its cost does not depend on the number of objects.
func (r *Reader[T]) Stats() Stats {
	now := r.source.State()
	stats := Stats{
		Counts:          Counts(now.Counts),
		Objects:         now.Objects,
		ResourceVersion: now.ResourceVersion,
		Revision:        now.Revision,
		Namespaces:      r.source.Engine.Namespaces(),
		Indexes:         make(map[string]int, len(now.Indexes)),
		Waiting:         int(r.waiters.count.Load()),
	}
	for _, x := range now.Indexes {
		stats.Indexes[x.Name] = x.InUse()
	}
	return stats
}
