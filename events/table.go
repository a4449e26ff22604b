package events

import "container/list"

// table has a value for each of a bounded number of keys. It forgets the key that was not asked
// for the longest.
type table[K comparable, V any] struct {
	most    int
	entries map[K]*list.Element // of *entry[K, V]
	order   *list.List          // the key that was asked for last is first
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func newTable[K comparable, V any](most int) table[K, V] {
	return table[K, V]{most: most, entries: map[K]*list.Element{}, order: list.New()}
}

// get returns the value of a key, which is zero for a new key. The caller may change it until the
// next call.
func (t *table[K, V]) get(key K) *V {
	if e, ok := t.entries[key]; ok {
		t.order.MoveToFront(e)
		return &e.Value.(*entry[K, V]).value
	}
	if len(t.entries) >= t.most {
		oldest := t.order.Back()
		delete(t.entries, oldest.Value.(*entry[K, V]).key)
		t.order.Remove(oldest)
	}
	e := &entry[K, V]{key: key}
	t.entries[key] = t.order.PushFront(e)
	return &e.value
}
