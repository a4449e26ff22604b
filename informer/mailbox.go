package informer

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
)

// mailItem is one entry of a mailbox: events that were posted together, or a step of the handler's
// first sync.
type mailItem[T any] struct {
	// events are the events that the reader has not taken yet. All mailboxes share the array, so a
	// batch is not copied for each handler. The array is never changed.
	events []Event[T]
	posted time.Time

	// An item without events has the objects of a snapshot (delivered as initial adds), or is a
	// sync point, or both. At the sync point, after the objects, the handler has received the
	// complete first list.
	snapshot    *indexer.Snapshot[T]
	isSyncPoint bool

	previous, next *mailItem[T]

	// deleted is the waiting item with the Deleted that precedes this Added of the same key. The
	// flag removed says that this item has left the mailbox.
	deleted *mailItem[T]
	removed bool
}

// mailbox is the queue between the informer and one handler, with one writer and one reader, in
// order. plain/handler.go has an unbounded ring, and wakes its goroutine for each event. Here a
// batch is one item, and wakes the goroutine once. This is one reason why an event in a burst of
// 500 takes 0.9 ms at the median, and 3.3 ms in plain.
type mailbox[T any] struct {
	limit    int
	overflow Overflow

	// When post has to wait, it calls the function holdUp. When the wait is over, it calls the
	// function that holdUp returned. While it waits, it calls the function stuck at intervals of
	// slowAfter.
	holdUp func() (release func())
	stuck  func()
	timer  *time.Timer // of the writer, for stuck; nil until the writer first waits

	// wake and space hold at most one token each. wake wakes the reader, for instance for a new
	// item. space says that there may be room. Only a writer with Block waits for space.
	wake  chan struct{}
	space chan struct{}

	mu sync.Mutex // guards following
	// first and last are the ends of the list of waiting items.
	first, last *mailItem[T]
	depth       int // waiting events, and items without events
	// spare is a list of empty items for reuse.
	spare  *mailItem[T]
	spares int
	// newest has the newest waiting item for each key. It exists only while the reader is behind:
	// from a full mailbox until it is empty. During this time each event has an item and an array
	// of its own. An item may wait for long, and must not keep the rest of its batch in memory.
	newest    map[types.NamespacedName]*mailItem[T]
	coalesced uint64
	closed    bool
}

func newMailbox[T any](limit int, overflow Overflow, holdUp func() (release func()), stuck func()) *mailbox[T] {
	return &mailbox[T]{
		limit:    limit,
		overflow: overflow,
		holdUp:   holdUp,
		stuck:    stuck,
		wake:     make(chan struct{}, 1),
		space:    make(chan struct{}, 1),
	}
}

// signal sends a token, unless one is there already.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// post appends events and returns the depth of the mailbox. With Block it waits whenever the
// mailbox is full, until there is room or the mailbox is closed. It wakes the reader after it has
// released the lock, because the reader takes the lock first.
func (m *mailbox[T]) post(events []Event[T], now time.Time) (depth int) {
	depth = m.put(events, now)
	signal(m.wake)
	return depth
}

// put is like post, but does not wake the reader.
func (m *mailbox[T]) put(events []Event[T], now time.Time) (depth int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(events) > 0 {
		if m.overflow == Block && !m.closed && m.depth >= m.limit {
			m.waitLocked()
		}
		if m.closed {
			return 0
		}
		if m.overflow == Coalesce && m.newest == nil && m.depth >= m.limit {
			m.fallBehindLocked()
		}
		n := len(events) // how many events the next item gets
		switch {
		case m.newest != nil:
			n = 1
		case m.overflow != Unbounded:
			n = min(n, m.limit-m.depth)
		}
		if m.newest == nil || !m.mergeLocked(events[0]) {
			item := m.newItemLocked()
			item.events, item.posted = events[:n:n], now
			m.appendLocked(item)
		}
		events = events[n:]
	}
	return m.depth
}

// waitLocked releases the lock and waits until there is room or the mailbox is closed.
func (m *mailbox[T]) waitLocked() {
	m.mu.Unlock()
	defer m.mu.Lock()
	signal(m.wake)
	release := m.holdUp()
	defer release()
	if m.timer == nil {
		m.timer = time.NewTimer(slowAfter)
	} else {
		m.timer.Reset(slowAfter)
	}
	defer m.timer.Stop()
	for full := true; full; {
		select {
		case <-m.space:
		case <-m.timer.C:
			m.stuck()
			m.timer.Reset(slowAfter)
		}
		m.mu.Lock()
		full = !m.closed && m.depth >= m.limit
		m.mu.Unlock()
	}
}

// postSnapshot appends all stored objects. It never waits.
func (m *mailbox[T]) postSnapshot(snapshot *indexer.Snapshot[T]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.appendLocked(&mailItem[T]{posted: time.Now(), snapshot: snapshot})
	signal(m.wake)
}

// postSyncPoint appends a sync point. It never waits.
func (m *mailbox[T]) postSyncPoint() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	item := m.last
	if item == nil || len(item.events) > 0 {
		item = &mailItem[T]{posted: time.Now()}
		m.appendLocked(item)
	}
	item.isSyncPoint = true
	signal(m.wake)
}

// take returns the oldest item, with at most one event. It returns false if the mailbox is empty.
func (m *mailbox[T]) take() (item mailItem[T], ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := m.first
	if first == nil {
		return item, false
	}
	item = *first
	if len(first.events) > 1 {
		item.events, first.events = item.events[:1], item.events[1:]
		m.depth--
	} else {
		m.removeLocked(first)
		m.recycleLocked(first)
	}
	if m.overflow == Block {
		signal(m.space)
	}
	return item, true
}

// close drops the waiting items and releases a waiting writer.
func (m *mailbox[T]) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.first, m.last, m.depth, m.newest = nil, nil, 0, nil
	signal(m.space)
}

// stats returns the number of waiting events, the time of the oldest one, and the number of merged
// events.
func (m *mailbox[T]) stats() (depth int, oldest time.Time, coalesced uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first != nil {
		oldest = m.first.posted
	}
	return m.depth, oldest, m.coalesced
}

// fallBehindLocked gives each waiting event an item of its own, and records the newest item of each
// key.
func (m *mailbox[T]) fallBehindLocked() {
	m.newest = make(map[types.NamespacedName]*mailItem[T], m.depth)
	for item := m.first; item != nil; item = item.next {
		if len(item.events) == 0 {
			continue
		}
		if len(item.events) > 1 {
			m.splitLocked(item)
		}
		m.recordNewestLocked(item)
	}
}

// recordNewestLocked records that an item has the newest event of its key.
func (m *mailbox[T]) recordNewestLocked(item *mailItem[T]) {
	item.events = []Event[T]{item.events[0]}
	m.newest[item.events[0].Key] = item
}

// splitLocked keeps the first event in an item, and puts the others into a new item behind it.
func (m *mailbox[T]) splitLocked(item *mailItem[T]) {
	remaining := m.newItemLocked()
	*remaining = mailItem[T]{events: item.events[1:], posted: item.posted, previous: item, next: item.next}
	if item.next == nil {
		m.last = remaining
	} else {
		item.next.previous = remaining
	}
	item.events, item.next = item.events[:1], remaining
}

// mergeLocked reports whether it merged the event into the waiting event of the same key, so that
// it need not be appended.
func (m *mailbox[T]) mergeLocked(event Event[T]) bool {
	waiting := m.newest[event.Key]
	if waiting == nil {
		return false
	}
	merged, result := merge(waiting.events[0], event)
	switch result {
	case keepBoth:
		return false
	case keepOne:
		waiting.events = []Event[T]{merged}
	case keepNone:
		// The Added and the Deleted cancel out only if a Deleted of the key still waits. Otherwise
		// the handler would receive no deletion, although it may have read the object from the
		// store.
		deleted := waiting.deleted
		if deleted == nil || deleted.removed {
			return false
		}
		m.removeLocked(waiting)
		m.newest[event.Key] = deleted
	}
	m.coalesced++
	return true
}

//go:noinline
func (m *mailbox[T]) appendLocked(item *mailItem[T]) {
	item.previous = m.last
	if m.last == nil {
		m.first = item
	} else {
		m.last.next = item
	}
	m.last = item
	m.depth += max(len(item.events), 1)
	if m.newest != nil && len(item.events) > 0 {
		key := item.events[0].Key
		if before := m.newest[key]; before != nil && before.events[0].Type == Deleted {
			item.deleted = before
		}
		m.recordNewestLocked(item)
	}
}

// removeLocked removes an item that has at most one event.
//
//go:noinline
func (m *mailbox[T]) removeLocked(item *mailItem[T]) {
	if item.previous == nil {
		m.first = item.next
	} else {
		item.previous.next = item.next
	}
	if item.next == nil {
		m.last = item.previous
	} else {
		item.next.previous = item.previous
	}
	m.depth--
	item.removed, item.deleted = true, nil
	if m.newest != nil && len(item.events) > 0 && m.newest[item.events[0].Key] == item {
		delete(m.newest, item.events[0].Key)
	}
	if m.first == nil {
		m.newest = nil
	}
}

// maxSpares is the number of items that are kept for reuse, which is enough for a reader that keeps
// up.
const maxSpares = 16

// newItemLocked returns an empty item.
func (m *mailbox[T]) newItemLocked() *mailItem[T] {
	item := m.spare
	if item == nil {
		return &mailItem[T]{}
	}
	m.spare, item.next = item.next, nil
	m.spares--
	return item
}

// recycleLocked keeps a taken item for reuse. While newest exists, it keeps no item, because a
// later item may refer to the taken one.
func (m *mailbox[T]) recycleLocked(item *mailItem[T]) {
	if m.newest == nil && m.spares < maxSpares {
		*item = mailItem[T]{next: m.spare}
		m.spare = item
		m.spares++
	}
}

// mergeResult says which of two consecutive events of one key remain.
type mergeResult uint8

const (
	keepBoth mergeResult = iota
	keepOne
	keepNone
)

// merge combines two events of one key. Old of the result is still New of the event before it, and
// the handler still learns every object's final state.
//
// A Deleted and a following Added stay two events: the handler must learn that the name belongs to
// another object. An Added and a following Deleted cancel out if an earlier Deleted of the key
// still waits. So no key has more than three events: Added, Deleted, Added.
func merge[T any](first, second Event[T]) (Event[T], mergeResult) {
	switch {
	case first.Type == Deleted:
		return second, keepBoth
	case second.Type == Deleted && first.Type == Added:
		return second, keepNone
	case second.Type == Deleted:
		second.Old = first.Old
		return second, keepOne
	default:
		first.New, first.ResourceVersion, first.UIDHash = second.New, second.ResourceVersion, second.UIDHash
		first.Restored = first.Type == Updated && (first.Restored || second.Restored)
		if first.Cause == Resync {
			first.Cause = second.Cause
		}
		return first, keepOne
	}
}
