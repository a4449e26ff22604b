package indexer

import "sync/atomic"

// walk returns where the objects are that have a value in an index: the versions of
// these records that the view sees and that are in the bucket. The name "" is that of
// the index by namespace, in which "" stands for all objects.
//
//	view := s.enter()
//	defer s.leave(view)
//	slots, bucket := s.walk(view, index, value)
//	revision := view.revision
//	for i := range slots {
//		if r := slots[i].Load(); r != nil {
//			if v := r.at(revision); v.in(bucket) { use(v) }
//		}
//	}
//
// All that the loop needs is in variables of its own, and all that it calls is inlined:
// while it waits for the memory of one record, a processor that works ahead asks for
// that of the next ones.
//
// The view must have been pinned before: another bucket could take the place of the
// one that is found.
func (s *source) walk(pinned *view, name, value string) (slots []atomic.Pointer[record], in *bucket) {
	if name == "" && value == "" {
		return s.engine.all.list.slots(), nil
	}
	if x := s.engine.index(pinned, name); x != nil {
		if b := x.find(value); b != nil {
			return b.walk()
		}
	}
	return nil, nil
}

// walk is that of source. The list of an index value also has those that had it
// earlier, or will have it only later; but no object ever leaves its namespace.
func (b *bucket) walk() (slots []atomic.Pointer[record], in *bucket) {
	if b.index.name == "" {
		return b.list.slots(), nil
	}
	return b.list.slots(), b
}

// slots returns those that have been filled.
func (l *list) slots() []atomic.Pointer[record] {
	if a := l.array.Load(); a != nil {
		return a.slots[:a.used.Load()]
	}
	return nil
}

// in reports whether there is an object, and it is in this bucket; nil is that of all.
func (v *version) in(b *bucket) bool { return v != nil && !v.deleted() && (b == nil || v.has(b)) }
