package informer

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// letter is one thing in a mailbox: an event, or the mark that every initial add
// lies before it.
type letter[T any] struct {
	event    Event[T]
	posted   time.Time
	syncMark bool

	previous, next *letter[T]
}

// mailbox is the queue between the informer and one handler: one writer, one
// reader, in order.
type mailbox[T any] struct {
	limit    int
	overflow Overflow

	// wake and space hold at most one token: something can be read, there may be
	// room to write.
	wake  chan struct{}
	space chan struct{}

	mu sync.Mutex // guards following
	// first and last are the ends of the list of letters that wait.
	first, last *letter[T]
	depth       int
	// newest has the newest waiting letter of each key. It exists only while the
	// reader is behind: from when the mailbox is full until it is empty.
	newest    map[types.NamespacedName]*letter[T]
	coalesced uint64
	closed    bool
}

func newMailbox[T any](limit int, overflow Overflow) *mailbox[T] {
	return &mailbox[T]{
		limit:    limit,
		overflow: overflow,
		wake:     make(chan struct{}, 1),
		space:    make(chan struct{}, 1),
	}
}

// signal leaves a token, unless one lies there already.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// post puts a letter in and reports how many wait. With Block it waits for room
// first, until there is some or the mailbox is closed.
func (m *mailbox[T]) post(l letter[T]) (depth int) {
	m.mu.Lock()
	for m.overflow == Block && !m.closed && m.depth >= m.limit {
		m.mu.Unlock()
		<-m.space
		m.mu.Lock()
	}
	defer m.mu.Unlock()
	if m.closed {
		return 0
	}
	if m.overflow == Coalesce && m.newest == nil && m.depth >= m.limit {
		m.fallBehindLocked()
	}
	if !m.mergeLocked(l) {
		m.appendLocked(&l)
	}
	signal(m.wake)
	return m.depth
}

// take hands out the oldest letter, or nothing.
func (m *mailbox[T]) take() (l letter[T], ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first == nil {
		return l, false
	}
	l = *m.first
	m.removeLocked(m.first)
	signal(m.space)
	return l, true
}

// close drops what waits and releases a writer that waits.
func (m *mailbox[T]) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.first, m.last, m.depth, m.newest = nil, nil, 0, nil
	signal(m.space)
}

// state returns how many letters wait, since when the oldest does, and how many
// were merged so far.
func (m *mailbox[T]) state() (depth int, oldest time.Time, coalesced uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first != nil {
		oldest = m.first.posted
	}
	return m.depth, oldest, m.coalesced
}

func (m *mailbox[T]) fallBehindLocked() {
	m.newest = make(map[types.NamespacedName]*letter[T], m.depth)
	for l := m.first; l != nil; l = l.next {
		if !l.syncMark {
			m.newest[l.event.Key] = l
		}
	}
}

// mergeLocked reports whether the letter was merged into the one that waits for
// the same key, so that it need not be appended.
func (m *mailbox[T]) mergeLocked(l letter[T]) bool {
	if m.newest == nil || l.syncMark {
		return false
	}
	waiting := m.newest[l.event.Key]
	if waiting == nil {
		return false
	}
	event, outcome := merge(waiting.event, l.event)
	switch outcome {
	case keepBoth:
		return false
	case keepOne:
		waiting.event = event
	case keepNone:
		delete(m.newest, l.event.Key)
		m.removeLocked(waiting)
	}
	m.coalesced++
	return true
}

func (m *mailbox[T]) appendLocked(l *letter[T]) {
	l.previous = m.last
	if m.last == nil {
		m.first = l
	} else {
		m.last.next = l
	}
	m.last = l
	m.depth++
	if m.newest != nil && !l.syncMark {
		m.newest[l.event.Key] = l
	}
}

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
	if m.newest != nil && m.newest[l.event.Key] == l {
		delete(m.newest, l.event.Key)
	}
	if m.first == nil {
		m.newest = nil
	}
}

// outcome says what is left of two events on one key that follow each other.
type outcome uint8

const (
	keepBoth outcome = iota
	keepOne
	keepNone
)

// merge makes one event of two, such that New of the event before them is still
// Old of the result, and the handler still learns every object's final state.
//
// A Deleted and the Added after it stay two: the handler must learn that the
// object is another one. An Added and the Deleted after it are nothing: the
// handler never knew the object. So no key has more than two events.
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
		first.New, first.ResourceVersion = second.New, second.ResourceVersion
		if first.Cause == Resync {
			first.Cause = second.Cause
		}
		return first, keepOne
	}
}
