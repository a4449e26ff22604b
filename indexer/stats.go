package indexer

// Counts says what became of ops.
type Counts struct {
	// Added, Updated and Deleted count the objects that were new, replaced and
	// removed. Deleting what is not there does not count.
	Added, Updated, Deleted uint64

	// Failed counts the ops that were left out because an index function failed.
	Failed uint64
}

// add adds other counts to these.
func (c *Counts) add(other Counts) {
	c.Added += other.Added
	c.Updated += other.Updated
	c.Deleted += other.Deleted
	c.Failed += other.Failed
}

// Stats is the state of a store in numbers. All but Waiting belong to one
// snapshot and fit together.
type Stats struct {
	// Counts are totals since the store was made.
	Counts

	// Objects and Namespaces are how many there are; objects without a namespace
	// are in none.
	Objects, Namespaces int

	// Indexes has for each index by name the number of its values in use.
	Indexes map[string]int

	// ResourceVersion is [Snapshot.ResourceVersion], Revision [Snapshot.Revision].
	ResourceVersion string
	Revision        uint64

	// Waiting is the number of calls of [Reader.WaitRV] that are blocked.
	Waiting int
}

// Stats returns the state of the store in numbers. It takes no time worth
// mentioning, however much is stored.
func (r *Reader[T]) Stats() Stats {
	s := r.Snapshot()
	stats := Stats{
		Counts:          s.counts,
		Objects:         s.Len(),
		Namespaces:      s.namespaces.values.len,
		Indexes:         make(map[string]int, len(s.indexes)),
		ResourceVersion: s.resourceVersion,
		Revision:        s.revision,
		Waiting:         r.waiters.len(),
	}
	for i := range s.indexes {
		if x := &s.indexes[i]; x.ready {
			stats.Indexes[x.name] = x.postings.values.len
		}
	}
	return stats
}
