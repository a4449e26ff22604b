package indexer

// Counts has the outcomes of ops.
type Counts struct {
	// Added, Updated and Deleted count the objects that were new, replaced and
	// removed. Deleting what is not there does not count.
	Added, Updated, Deleted uint64

	// Failed counts the ops that were left out because an index function failed.
	Failed uint64
}

// Stats is the state of a store in numbers.
type Stats struct {
	// Counts are totals since the store was made.
	Counts

	// Objects is how many there are.
	Objects int

	// ResourceVersion is [Snapshot.ResourceVersion], Revision [Snapshot.Revision].
	// They, Objects and Counts are of one moment; the following may be a
	// transaction ahead.
	ResourceVersion string
	Revision        uint64

	// Namespaces is how many have objects; objects without a namespace are in none.
	Namespaces int

	// Indexes has for each index by name the number of its values in use.
	Indexes map[string]int

	// Waiting is the number of calls of [Reader.WaitRV] that are blocked.
	Waiting int
}

// Stats returns the state of the store in numbers. It takes no time worth
// mentioning, however much is stored.
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
