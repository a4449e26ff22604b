package informer

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
)

// letter is one entry of a mailbox: events that were posted together, or a step of the handler's
// first sync.
type letter[T any] struct {
	// events are the events that the reader has not taken yet. All mailboxes share the array, so a
	// batch is not copied for each handler. The array is never changed.
	events []Event[T]
	posted time.Time

	// A letter without events has the objects of a snapshot (delivered as initial adds), or a mark,
	// or both. The mark applies after the objects: see firstSync. version is the version of the
	// mark.
	snapshot *indexer.Snapshot[T]
	mark     bool
	version  string

	previous, next *letter[T]

	// deleted is the waiting letter with the Deleted that precedes this Added of the same key. gone
	// says that this letter has left the mailbox.
	deleted *letter[T]
	gone    bool
}

// mailbox is the queue between the informer and one handler, with one writer and one reader, in
// order. plain/handler.go has an unbounded ring, and wakes its goroutine for each event. Here a
// batch is one letter, and wakes the goroutine once. This is one reason why an event in a burst of
// 500 takes 0.9 ms at the median, and 3.3 ms in plain.
type mailbox[T any] struct {
	limit    int
	overflow Overflow

	// When post has to wait, it calls the function holdUp, and when the wait is over, the function
	// that holdUp returned. While it waits, it calls the function stuck at intervals of slowAfter.
	holdUp func() (release func())
	stuck  func()
	timer  *time.Timer // of the writer, for stuck; nil until the writer first waits

	// wake and space hold at most one token each. wake says that something can be read. space says
	// that there may be room. Only a writer with Block waits for space.
	wake  chan struct{}
	space chan struct{}

	mu sync.Mutex // guards following
	// first and last are the ends of the list of waiting letters.
	first, last *letter[T]
	depth       int // waiting events, and letters without events
	// spare are empty letters for reuse.
	spare  *letter[T]
	spares int
	// newest has the newest waiting letter for each key. It exists only while the reader is behind:
	// from a full mailbox until it is empty. During this time each event has a letter and an array
	// of its own. A letter may wait for long, and must not keep the rest of its batch in memory.
	newest    map[types.NamespacedName]*letter[T]
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
		n := len(events) // how many events the next letter gets
		switch {
		case m.newest != nil:
			n = 1
		case m.overflow != Unbounded:
			n = min(n, m.limit-m.depth)
		}
		if m.newest == nil || !m.mergeLocked(events[0]) {
			l := m.blankLocked()
			l.events, l.posted = events[:n:n], now
			m.appendLocked(l)
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
	m.appendLocked(&letter[T]{posted: time.Now(), snapshot: snapshot})
	signal(m.wake)
}

// postMark appends a mark with the version of the store. It never waits.
func (m *mailbox[T]) postMark(version string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	l := m.last
	if l == nil || len(l.events) > 0 {
		l = &letter[T]{posted: time.Now()}
		m.appendLocked(l)
	}
	l.mark, l.version = true, version
	signal(m.wake)
}

// take returns the oldest letter, with at most one event, or nothing.
func (m *mailbox[T]) take() (l letter[T], ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := m.first
	if first == nil {
		return l, false
	}
	l = *first
	if len(first.events) > 1 {
		l.events, first.events = l.events[:1], l.events[1:]
		m.depth--
	} else {
		m.removeLocked(first)
		m.spareLocked(first)
	}
	if m.overflow == Block {
		signal(m.space)
	}
	return l, true
}

// close drops the waiting letters and releases a waiting writer.
func (m *mailbox[T]) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.first, m.last, m.depth, m.newest = nil, nil, 0, nil
	signal(m.space)
}

// state returns the number of waiting events, the time of the oldest one, and the number of merged
// events.
func (m *mailbox[T]) state() (depth int, oldest time.Time, coalesced uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first != nil {
		oldest = m.first.posted
	}
	return m.depth, oldest, m.coalesced
}

// fallBehindLocked gives each waiting event a letter of its own, and records the newest letter of
// each key.
func (m *mailbox[T]) fallBehindLocked() {
	m.newest = make(map[types.NamespacedName]*letter[T], m.depth)
	for l := m.first; l != nil; l = l.next {
		if len(l.events) == 0 {
			continue
		}
		if len(l.events) > 1 {
			m.splitLocked(l)
		}
		m.noteLocked(l)
	}
}

// noteLocked records that a letter has the newest event of its key.
func (m *mailbox[T]) noteLocked(l *letter[T]) {
	l.events = []Event[T]{l.events[0]}
	m.newest[l.events[0].Key] = l
}

// splitLocked keeps the first event in a letter, and puts the others into new letters behind it.
func (m *mailbox[T]) splitLocked(l *letter[T]) {
	rest := m.blankLocked()
	*rest = letter[T]{events: l.events[1:], posted: l.posted, previous: l, next: l.next}
	if l.next == nil {
		m.last = rest
	} else {
		l.next.previous = rest
	}
	l.events, l.next = l.events[:1], rest
}

// mergeLocked reports whether it merged the event into the waiting event of the same key, so that
// it need not be appended.
func (m *mailbox[T]) mergeLocked(event Event[T]) bool {
	waiting := m.newest[event.Key]
	if waiting == nil {
		return false
	}
	merged, outcome := merge(waiting.events[0], event)
	switch outcome {
	case keepBoth:
		return false
	case keepOne:
		waiting.events = []Event[T]{merged}
	case keepNone:
		// The Added and the Deleted cancel out only if a Deleted of the key still waits. Otherwise
		// the handler would receive no deletion, although it may have read the object from the
		// store.
		deleted := waiting.deleted
		if deleted == nil || deleted.gone {
			return false
		}
		m.removeLocked(waiting)
		m.newest[event.Key] = deleted
	}
	m.coalesced++
	return true
}

//go:noinline
func (m *mailbox[T]) appendLocked(l *letter[T]) {
	l.previous = m.last
	if m.last == nil {
		m.first = l
	} else {
		m.last.next = l
	}
	m.last = l
	m.depth += max(len(l.events), 1)
	if m.newest != nil && len(l.events) > 0 {
		key := l.events[0].Key
		if before := m.newest[key]; before != nil && before.events[0].Type == Deleted {
			l.deleted = before
		}
		m.noteLocked(l)
	}
}

// removeLocked removes a letter that has one event or none.
//
//go:noinline
func (m *mailbox[T]) removeLocked(l *letter[T]) {
	if l.previous == nil {
		m.first = l.next
	} else {
		l.previous.next = l.next
	}
	if l.next == nil {
		m.last = l.previous
	} else {
		l.next.previous = l.previous
	}
	m.depth--
	l.gone, l.deleted = true, nil
	if m.newest != nil && len(l.events) > 0 && m.newest[l.events[0].Key] == l {
		delete(m.newest, l.events[0].Key)
	}
	if m.first == nil {
		m.newest = nil
	}
}

// maxSpares is the number of letters that are kept for reuse, which is enough for a reader that
// keeps up.
const maxSpares = 16

// blankLocked returns an empty letter.
func (m *mailbox[T]) blankLocked() *letter[T] {
	l := m.spare
	if l == nil {
		return &letter[T]{}
	}
	m.spare, l.next = l.next, nil
	m.spares--
	return l
}

// spareLocked keeps a taken letter for reuse. While newest exists, it keeps no letter, because a
// later letter may refer to the taken letter.
func (m *mailbox[T]) spareLocked(l *letter[T]) {
	if m.newest == nil && m.spares < maxSpares {
		*l = letter[T]{next: m.spare}
		m.spare = l
		m.spares++
	}
}

// outcome says which of two consecutive events of one key remain.
type outcome uint8

const (
	keepBoth outcome = iota
	keepOne
	keepNone
)

// merge combines two events of one key. Old of the result is still New of the event before it, and
// the handler still learns every object's final state.
//
// A Deleted and a following Added stay two events: the handler must learn that the name belongs to
// another object. An Added and a following Deleted cancel out if an earlier Deleted of the key
// still waits. So no key has more than three events: Added, Deleted, Added.
func merge[T any](first, second Event[T]) (Event[T], outcome) {
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
