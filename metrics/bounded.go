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

// other is the label value that all names beyond a limit have in common.
const other = "other"

// bounded makes one value for each key, up to a maximum number of keys. All further keys share one
// value, which is made for the key beyond. A look-up needs no lock and no allocation.
type bounded[K comparable, V any] struct {
	known  atomic.Pointer[map[K]V] // replaced as a whole, never changed
	most   int
	made   func(K) V
	beyond K

	mu     sync.Mutex // guards following, and the replacement of known
	missed map[K]bool // keys beyond the limit, up to the same maximum
}

// newBounded returns a bounded. At most this number of keys have values of their own.
func newBounded[K comparable, V any](most int, beyond K, made func(K) V) *bounded[K, V] {
	return &bounded[K, V]{most: most, made: made, beyond: beyond}
}

func (b *bounded[K, V]) get(key K) V {
	if known := b.known.Load(); known != nil {
		if v, ok := (*known)[key]; ok {
			return v
		}
	}
	return b.miss(key)
}

func (b *bounded[K, V]) miss(key K) V {
	b.mu.Lock()
	defer b.mu.Unlock()
	var known map[K]V
	if old := b.known.Load(); old != nil {
		known = *old
	}
	if v, ok := known[key]; ok {
		return v
	}
	if len(known) >= b.most && key != b.beyond {
		if b.missed == nil {
			b.missed = map[K]bool{}
		}
		if len(b.missed) < b.most {
			b.missed[key] = true
		}
		key = b.beyond
		if v, ok := known[key]; ok {
			return v
		}
	}
	v := b.made(key)
	known = maps.Clone(known)
	if known == nil {
		known = map[K]V{}
	}
	known[key] = v
	b.known.Store(&known)
	return v
}

// leftOut returns the number of keys that share the value of beyond.
func (b *bounded[K, V]) leftOut() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.missed)
}

// partNames has the names of parts with histograms, up to a maximum for each kind of part.
type partNames struct {
	most int

	mu    sync.Mutex // guards following
	kinds map[string]*bounded[string, string]
}

func newPartNames(most int) *partNames {
	return &partNames{most: most, kinds: map[string]*bounded[string, string]{}}
}

// of(kind, name) returns name. If the kind already has too many names, it returns the constant
// other instead.
func (p *partNames) of(kind, name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := p.kinds[kind]
	if names == nil {
		names = newBounded(p.most, other, func(name string) string { return name })
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

// bounds lists everything that limits a number of names, in order to count the names that were left
// out.
type bounds struct {
	mu  sync.Mutex // guards following
	all []interface{ leftOut() int }
}

func (b *bounds) add(one interface{ leftOut() int }) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, one)
}

func (b *bounds) leftOut() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.all {
		n += one.leftOut()
	}
	return n
}

// word converts a name to one word, without spaces.
func word(name fmt.Stringer) string { return strings.ReplaceAll(name.String(), " ", "_") }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
