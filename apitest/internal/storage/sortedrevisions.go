package storage

import (
	"iter"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// chunkSize limits the copying of a write: a write copies one chunk, and the list of chunks.
const chunkSize = 256

// SortedRevisions is an immutable set of revisions, at most one per key, sorted by key. A write
// returns a new set that shares all but one chunk with the old set. So a list is a snapshot that
// costs only the copy of a slice header. The zero value is empty.
type SortedRevisions struct {
	chunks [][]*Revision // no chunk is empty
	Len    int
}

func compareKeys(a, b types.NamespacedName) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

// find returns the chunk that has key, or into which key would be inserted. It also returns the
// position in the chunk, and whether the set has key.
func (s SortedRevisions) find(key types.NamespacedName) (chunk, at int, found bool) {
	chunk = sort.Search(len(s.chunks), func(i int) bool {
		return compareKeys(s.chunks[i][0].Key, key) > 0
	})
	chunk = max(chunk-1, 0)
	if chunk == len(s.chunks) {
		return chunk, 0, false
	}
	at, found = slices.BinarySearchFunc(s.chunks[chunk], key, func(r *Revision, key types.NamespacedName) int {
		return compareKeys(r.Key, key)
	})
	return chunk, at, found
}

// get returns the revision with this key, or nil.
func (s SortedRevisions) get(key types.NamespacedName) *Revision {
	if chunk, at, found := s.find(key); found {
		return s.chunks[chunk][at]
	}
	return nil
}

// with(rev) returns a set that also contains rev. It replaces a revision with the same key.
func (s SortedRevisions) with(rev *Revision) SortedRevisions {
	chunk, at, found := s.find(rev.Key)
	if chunk == len(s.chunks) {
		return SortedRevisions{chunks: [][]*Revision{{rev}}, Len: 1}
	}
	chunks, old := slices.Clone(s.chunks), s.chunks[chunk]
	if found {
		chunks[chunk] = slices.Clone(old)
		chunks[chunk][at] = rev
		return SortedRevisions{chunks: chunks, Len: s.Len}
	}
	grown := make([]*Revision, 0, len(old)+1)
	grown = append(append(append(grown, old[:at]...), rev), old[at:]...)
	if len(grown) <= chunkSize {
		chunks[chunk] = grown
	} else {
		// Keys often arrive in order, so the lower chunk is left nearly full.
		cut := chunkSize / 2
		if at == len(old) {
			cut = len(old)
		}
		chunks = slices.Replace(chunks, chunk, chunk+1, grown[:cut:cut], grown[cut:])
	}
	return SortedRevisions{chunks: chunks, Len: s.Len + 1}
}

// without(key) returns a set that does not contain the revision with this key.
func (s SortedRevisions) without(key types.NamespacedName) SortedRevisions {
	chunk, at, found := s.find(key)
	if !found {
		return s
	}
	chunks, old := slices.Clone(s.chunks), s.chunks[chunk]
	if len(old) == 1 {
		chunks = slices.Delete(chunks, chunk, chunk+1)
	} else {
		chunks[chunk] = slices.Concat(old[:at], old[at+1:])
	}
	return SortedRevisions{chunks: chunks, Len: s.Len - 1}
}

// InNamespace iterates over the revisions of a namespace in order. A namespace of ""
// means all namespaces.
func (s SortedRevisions) InNamespace(namespace string) iter.Seq[*Revision] {
	return s.After(types.NamespacedName{Namespace: namespace}, namespace)
}

// After iterates over the revisions of a namespace in order. It begins with the
// first key that is greater than the given key. A namespace of "" means all namespaces.
func (s SortedRevisions) After(key types.NamespacedName, namespace string) iter.Seq[*Revision] {
	if compareKeys(key, types.NamespacedName{Namespace: namespace}) < 0 {
		key = types.NamespacedName{Namespace: namespace}
	}
	return func(yield func(*Revision) bool) {
		chunk, at, found := s.find(key)
		if found {
			at++
		}
		for ; chunk < len(s.chunks); chunk, at = chunk+1, 0 {
			for _, rev := range s.chunks[chunk][at:] {
				if namespace != "" && rev.Key.Namespace != namespace || !yield(rev) {
					return
				}
			}
		}
	}
}
