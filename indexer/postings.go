package indexer

import (
	"hash/maphash"
	"iter"
)

// postings says for each value which entries have it, as the index of a book
// does. Like a trie it is copied by copying the struct.
type postings[T any] struct {
	values trie[string, *bucket[T]]
}

// bucket is the set of entries that have one value, never empty.
type bucket[T any] struct {
	owner   *owner
	entries entries[T]
}

// get returns the entries that have this value.
func (p *postings[T]) get(seed maphash.Seed, value string) entries[T] {
	if l := p.values.get(maphash.String(seed, value), value); l != nil {
		return l.value.entries
	}
	return entries[T]{}
}

// all iterates over the values and the number of entries that have each.
func (p *postings[T]) all() iter.Seq2[string, int] {
	values := p.values
	return func(yield func(string, int) bool) {
		for l := range values.all {
			if !yield(l.key, l.value.entries.len) {
				return
			}
		}
	}
}

// add puts the entry under a value, in place of the one with its key.
func (p *postings[T]) add(o *owner, seed maphash.Seed, value string, e *entry[T]) {
	hash := maphash.String(seed, value)
	l := p.values.get(hash, value)
	if l == nil {
		l = &leaf[string, *bucket[T]]{hash: hash, key: value, value: &bucket[T]{owner: o}}
		p.values.set(o, l)
	}
	p.editable(o, l).entries.set(o, e)
}

// remove takes the entry from under a value. It does nothing if the entry is
// not there, even if another one with its key is.
func (p *postings[T]) remove(o *owner, seed maphash.Seed, value string, e *entry[T]) {
	hash := maphash.String(seed, value)
	l := p.values.get(hash, value)
	switch {
	case l == nil || l.value.entries.get(e.hash, e.key) != e:
	case l.value.entries.len == 1:
		p.values.delete(o, hash, value)
	default:
		p.editable(o, l).entries.delete(o, e.hash, e.key)
	}
}

// editable returns the bucket of a value if the owner may change it, or else a
// copy that it has put in its place.
func (p *postings[T]) editable(o *owner, l *leaf[string, *bucket[T]]) *bucket[T] {
	if l.value.owner == o {
		return l.value
	}
	b := &bucket[T]{owner: o, entries: l.value.entries}
	p.values.set(o, &leaf[string, *bucket[T]]{hash: l.hash, key: l.key, value: b})
	return b
}
