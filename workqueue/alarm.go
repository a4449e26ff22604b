package workqueue

import (
	"math"
	"math/bits"
	"time"
)

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

// alarms holds the entries that are to be looked at at some time, and tells which
// are first; those of equal times in the order in which they were set. It is a
// radix heap, which works because time does not go back: no alarm is
// before the floor, a time that has passed.
//
// plain/delay.go has a binary heap: 2,038 ns for a key until it is due and done, here 926 ns. A binary heap of entries, without
// container/heap and maps, missed two targets of bench/queue: 0.76 of client-go's time for AddAfter of new keys, here 0.50.
//
// Span n has the alarms whose time differs from the floor in bit n (counted
// from 1) and in no higher bit; span 0 has the alarms whose time is the floor. So the alarms
// of a span are all before those of the next. To set an alarm is to put it at the
// end of its span's list. To take it out is to unlink it. Both cost the same however many
// alarms there are, and nothing is sorted. When the first span in use is to ring, its least time
// becomes the floor, and the span is spread: its alarms all go to spans before it, still
// in their order. So an alarm moves at most 63 times.
type alarms[K comparable] struct {
	spans     []span[K]     // nil until there was an alarm
	used      uint64        // bit n is set if span n has alarms
	spreading int           // the span that is being spread, 0 if none is
	floor     time.Duration // no alarm is before it
}

// alarm is the part of an entry that belongs to alarms, beside entry.span.
type alarm[K comparable] struct {
	at         time.Duration // when it rings
	prev, next *entry[K]     // the others in its span
}

// span is a list of entries, linked through their alarms.
type span[K comparable] struct {
	first, last *entry[K]
	least       time.Duration // no alarm of the span is before it; an alarm at that time may be gone
}

// spreadAtOnce is how many alarms are moved with the lock held. The 100,000 of a resync
// would keep the lock for milliseconds.
const spreadAtOnce = 128

// set makes the entry's alarm ring at a time, and reports whether that may be
// before all others. A time before the floor is the floor.
func (h *alarms[K]) set(e *entry[K], at time.Duration) bool {
	at = max(at, h.floor)
	if e.span > 0 && e.alarm.at == at {
		return false // it keeps its place among those of the same time
	}
	h.unset(e)
	first := at < h.first()
	e.alarm.at = at
	if h.spreading > 0 {
		h.push(e, h.spreading) // behind those of the same time that are there
	} else {
		h.push(e, h.spanOf(e))
	}
	return first
}

// spanOf returns the number of the span where an entry belongs.
func (h *alarms[K]) spanOf(e *entry[K]) int { return bits.Len64(uint64(e.alarm.at ^ h.floor)) }

// push puts an entry at the end of a span.
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

// unset takes out the entry's alarm, if there is one.
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

// first returns when the first alarm rings, or some time before that, if an earlier alarm
// has been taken out; never if there is none.
func (h *alarms[K]) first() time.Duration {
	switch {
	case h.spreading > 0:
		return h.floor
	case h.used == 0:
		return never
	}
	return h.spans[bits.TrailingZeros64(h.used)].least
}

// ring takes out the first alarm of those that ring by now, and returns its entry. It returns nil if
// there is none, and nil and true if it has to be called again, as the search takes long.
func (h *alarms[K]) ring(now time.Duration) (e *entry[K], more bool) {
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

// all calls yield for every entry, which may take it out.
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
