package workqueue

import (
	"math"
	"math/bits"
	"time"
)

// never is a time that never comes.
const never = time.Duration(math.MaxInt64)

// alarms holds entries with a time, and returns them in the order of their times. For equal times,
// the order of the calls of set counts. It is a radix heap, which works because time only goes
// forward: no alarm is before the floor, a time that has passed.
//
// plain/delay.go has a binary heap: a key takes 2,038 ns there until it is due and done, and 926 ns
// here. A binary heap of entries, without container/heap and maps, missed two targets of
// bench/queue. The binary heap took 0.76 of client-go's time for AddAfter of new keys; the radix
// heap takes 0.50.
//
// Span n has the alarms whose time differs from the floor in bit n (counted from 1) and in no
// higher bit; span 0 has the alarms whose time is the floor. So the alarms of a span are all before
// the alarms of the next span. A set alarm is appended to its span's list, and a removed alarm is
// unlinked. Both operations cost the same for any number of alarms, and nothing is sorted. When the
// first used span is due, its least time becomes the floor, and the span is spread: all its alarms
// move to lower spans, in the same order. So an alarm moves at most 63 times.
type alarms[K comparable] struct {
	spans     []span[K]     // nil until there was an alarm
	used      uint64        // bit n is set if span n has alarms
	spreading int           // the span that is being spread, or 0
	floor     time.Duration // no alarm is before it
}

// alarm is the part of an entry that alarms uses, besides entry.span.
type alarm[K comparable] struct {
	at         time.Duration // when it is due
	prev, next *entry[K]     // neighbours in its span
}

// span is a list of entries, linked through their alarms.
type span[K comparable] struct {
	first, last *entry[K]
	// lower bound of the alarms' times; the alarm at that time may have been removed
	least time.Duration
}

// spreadAtOnce is the number of alarms that are moved under one lock. To move all 100,000 alarms of
// a resync at once would hold the lock for milliseconds.
const spreadAtOnce = 128

// set sets the entry's alarm to a time, and reports whether it may now be the first. A time before
// the floor counts as the floor.
func (h *alarms[K]) set(e *entry[K], at time.Duration) bool {
	at = max(at, h.floor)
	if e.span > 0 && e.alarm.at == at {
		return false // it keeps its place among equal times
	}
	h.unset(e)
	first := at < h.first()
	e.alarm.at = at
	if h.spreading > 0 {
		h.push(e, h.spreading) // behind the alarms of the same time
	} else {
		h.push(e, h.spanOf(e))
	}
	return first
}

// spanOf returns the number of the span for an entry.
func (h *alarms[K]) spanOf(e *entry[K]) int { return bits.Len64(uint64(e.alarm.at ^ h.floor)) }

// push appends an entry to a span.
func (h *alarms[K]) push(e *entry[K], n int) {
	if h.spans == nil {
		h.spans = make([]span[K], 64)
	}
	s := &h.spans[n]
	e.span = uint8(n + 1)
	e.alarm.prev = s.last
	if s.last == nil {
		s.first, s.least = e, e.alarm.at
		h.used |= 1 << n
	} else {
		s.last.alarm.next = e
		s.least = min(s.least, e.alarm.at)
	}
	s.last = e
}

// unset removes the entry's alarm, if it has one.
func (h *alarms[K]) unset(e *entry[K]) {
	if e.span == 0 {
		return
	}
	n := e.span - 1
	s := &h.spans[n]
	if e.alarm.prev == nil {
		s.first = e.alarm.next
	} else {
		e.alarm.prev.alarm.next = e.alarm.next
	}
	if e.alarm.next == nil {
		s.last = e.alarm.prev
	} else {
		e.alarm.next.alarm.prev = e.alarm.prev
	}
	if s.first == nil {
		h.used &^= 1 << n
	}
	e.span, e.alarm = 0, alarm[K]{}
}

// first returns the time of the first alarm. If an earlier alarm was removed, the result may be too
// early. Without alarms it returns the constant never.
func (h *alarms[K]) first() time.Duration {
	switch {
	case h.spreading > 0:
		return h.floor
	case h.used == 0:
		return never
	}
	return h.spans[bits.TrailingZeros64(h.used)].least
}

// popDue removes the first alarm that is due at the time now, and returns its entry. It returns nil
// if no alarm is due. It returns nil and true if the search is long, so that another call must
// continue it.
func (h *alarms[K]) popDue(now time.Duration) (e *entry[K], more bool) {
	for moves := 0; h.first() <= now; moves++ {
		if moves == spreadAtOnce {
			return nil, true
		}
		if h.spreading > 0 {
			h.spread()
			continue
		}
		n := bits.TrailingZeros64(h.used)
		if n == 0 {
			e = h.spans[0].first
			h.unset(e)
			return e, false
		}
		h.spreading, h.floor = n, h.spans[n].least
	}
	return nil, false
}

// spread moves one alarm from the span that is being spread.
func (h *alarms[K]) spread() {
	e := h.spans[h.spreading].first
	if e == nil {
		h.spreading = 0
		return
	}
	at := e.alarm.at
	h.unset(e)
	e.alarm.at = at
	h.push(e, h.spanOf(e))
}

// all calls the function yield for every entry. The function may remove the entry.
func (h *alarms[K]) all(yield func(*entry[K]) bool) {
	for i := range h.spans {
		for e := h.spans[i].first; e != nil; {
			next := e.alarm.next
			if !yield(e) {
				return
			}
			e = next
		}
	}
}
