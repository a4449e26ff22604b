package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// other is the label value that all names beyond a limit share.
const other = "other"

// cappedMap makes one value for each key, up to a maximum number of keys. All further keys share
// one value, which is made for overflowKey. A look-up of a known key needs no lock and no
// allocation.
type cappedMap[K comparable, V any] struct {
	known       atomic.Pointer[map[K]V] // replaced as a whole, never changed
	limit       int
	newValue    func(K) V
	overflowKey K

	mu         sync.Mutex // guards following, and the replacement of known
	overflowed map[K]bool // keys beyond the limit, up to the same maximum
}

// newCappedMap returns a cappedMap. At most limit keys have values of their own.
func newCappedMap[K comparable, V any](limit int, overflowKey K, newValue func(K) V) *cappedMap[K, V] {
	return &cappedMap[K, V]{limit: limit, newValue: newValue, overflowKey: overflowKey}
}

func (b *cappedMap[K, V]) get(key K) V {
	if known := b.known.Load(); known != nil {
		if v, ok := (*known)[key]; ok {
			return v
		}
	}
	return b.miss(key)
}

func (b *cappedMap[K, V]) miss(key K) V {
	b.mu.Lock()
	defer b.mu.Unlock()
	var known map[K]V
	if old := b.known.Load(); old != nil {
		known = *old
	}
	if v, ok := known[key]; ok {
		return v
	}
	if len(known) >= b.limit && key != b.overflowKey {
		if b.overflowed == nil {
			b.overflowed = map[K]bool{}
		}
		if len(b.overflowed) < b.limit {
			b.overflowed[key] = true
		}
		key = b.overflowKey
		if v, ok := known[key]; ok {
			return v
		}
	}
	v := b.newValue(key)
	known = maps.Clone(known)
	if known == nil {
		known = map[K]V{}
	}
	known[key] = v
	b.known.Store(&known)
	return v
}

// leftOut returns the number of keys that share the value of overflowKey.
func (b *cappedMap[K, V]) leftOut() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.overflowed)
}

// partNames has the names of parts with histograms, up to a maximum for each kind of part.
type partNames struct {
	limit int

	mu    sync.Mutex // guards following
	kinds map[string]*cappedMap[string, string]
}

func newPartNames(limit int) *partNames {
	return &partNames{limit: limit, kinds: map[string]*cappedMap[string, string]{}}
}

// capped returns name, or the constant other if the kind already has too many names.
func (p *partNames) capped(kind, name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := p.kinds[kind]
	if names == nil {
		names = newCappedMap(p.limit, other, func(name string) string { return name })
		p.kinds[kind] = names
	}
	return names.get(name)
}

// leftOut returns the number of names that were replaced by the constant other.
func (p *partNames) leftOut() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, names := range p.kinds {
		n += names.leftOut()
	}
	return n
}

// nameLimits lists everything that limits a number of names, in order to count the names that were
// left out.
type nameLimits struct {
	mu  sync.Mutex // guards following
	all []interface{ leftOut() int }
}

func (b *nameLimits) add(one interface{ leftOut() int }) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, one)
}

func (b *nameLimits) leftOut() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.all {
		n += one.leftOut()
	}
	return n
}

// labelWord converts a name to one word, without spaces.
func labelWord(name fmt.Stringer) string { return strings.ReplaceAll(name.String(), " ", "_") }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
