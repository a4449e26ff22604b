package workqueue_test

import (
	"cmp"
	"slices"
	"time"
)

// model is what a queue must do, written as simply as possible: slices, no
// concurrency, no timer. Waiting counts Gets that are blocked.
type model struct {
	dirty      map[byte]bool
	ready      []byte
	processing []byte
	delayed    []delayedKey
	waiting    int
	shut       bool
	handed     []byte // keys handed out by the last step
	over       int    // Gets that the last step told to end
}

type delayedKey struct {
	key byte
	at  time.Duration
}

func (m *model) add(key byte) {
	if m.shut || m.dirty[key] {
		return
	}
	m.dirty[key] = true
	if !slices.Contains(m.processing, key) {
		m.ready = append(m.ready, key)
	}
}

func (m *model) addAfter(key byte, now, d time.Duration) {
	switch i := slices.IndexFunc(m.delayed, func(k delayedKey) bool { return k.key == key }); {
	case m.shut:
		return
	case d <= 0:
		m.add(key)
		return
	case i >= 0 && m.delayed[i].at <= now+d:
		return
	case i >= 0:
		m.delayed = slices.Delete(m.delayed, i, i+1)
	}
	m.delayed = append(m.delayed, delayedKey{key, now + d})
}

func (m *model) advance(now time.Duration) {
	slices.SortStableFunc(m.delayed, func(a, b delayedKey) int { return cmp.Compare(a.at, b.at) })
	for len(m.delayed) > 0 && m.delayed[0].at <= now {
		m.add(m.delayed[0].key)
		m.delayed = m.delayed[1:]
	}
}

func (m *model) done(key byte) {
	i := slices.Index(m.processing, key)
	if i < 0 {
		return
	}
	m.processing = slices.Delete(m.processing, i, i+1)
	if m.dirty[key] {
		m.ready = append(m.ready, key)
	}
}

func (m *model) shutDown() {
	m.shut = true
	m.delayed = nil
}

// settle lets the blocked Gets return that can.
func (m *model) settle() {
	m.handed, m.over = nil, 0
	for m.waiting > 0 && len(m.ready) > 0 {
		key := m.ready[0]
		m.ready = m.ready[1:]
		m.dirty[key] = false
		m.processing = append(m.processing, key)
		m.handed = append(m.handed, key)
		m.waiting--
	}
	if m.shut {
		m.over, m.waiting = m.waiting, 0
	}
}

func (m *model) drained() bool { return m.shut && len(m.ready) == 0 && len(m.processing) == 0 }

func (m *model) countDirty() int {
	n := 0
	for _, dirty := range m.dirty {
		if dirty {
			n++
		}
	}
	return n
}
