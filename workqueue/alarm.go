package workqueue

import (
	"math"
	"slices"
	"time"
)

// alarm is the next time that matters to an entry: when its delay is over, or
// when MinInterval allows its next turn, whichever is first.
type alarm[K comparable] struct {
	entry *entry[K]
	due   time.Duration // when the delayed work is to be added, or never
	work  work          // what is to be added then
	slot  int           // place in the heap
}

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

// rings returns when the alarm is to ring.
func (a *alarm[K]) rings() time.Duration {
	if a.entry.cool > 0 {
		return min(a.due, a.entry.cool)
	}
	return a.due
}

// alarmHeap is a heap of alarms, the first to ring first, and of those that ring
// together the first to be set. The slot at i has its children at 4i+1 to 4i+4;
// times stand in the slots, so that comparing does not follow pointers.
type alarmHeap[K comparable] struct {
	slots   []alarmSlot[K]
	seq     uint64 // number of the latest set
	delayed int    // alarms whose due is a time
	pool    pool[alarm[K]]
}

type alarmSlot[K comparable] struct {
	at    time.Duration
	seq   uint64
	alarm *alarm[K]
}

func (s *alarmSlot[K]) before(other *alarmSlot[K]) bool {
	return s.at < other.at || s.at == other.at && s.seq < other.seq
}

// first returns the alarm that rings first, and when, or nil.
func (h *alarmHeap[K]) first() (*alarm[K], time.Duration) {
	if len(h.slots) == 0 {
		return nil, never
	}
	return h.slots[0].alarm, h.slots[0].at
}

// obtain returns the entry's alarm, and makes one, not yet in the heap, if there
// is none.
func (h *alarmHeap[K]) obtain(e *entry[K]) *alarm[K] {
	if e.alarm == nil {
		a := h.pool.get()
		a.entry, a.due, a.slot = e, never, -1
		e.alarm = a
	}
	return e.alarm
}

// set puts the alarm where it belongs by its time.
func (h *alarmHeap[K]) set(a *alarm[K]) {
	h.seq++
	slot := alarmSlot[K]{at: a.rings(), seq: h.seq, alarm: a}
	if a.slot < 0 {
		a.slot = len(h.slots)
		h.slots = append(h.slots, slot)
	}
	h.place(a.slot, slot)
}

// remove takes the alarm out, if it is in, and forgets it.
func (h *alarmHeap[K]) remove(a *alarm[K]) {
	if at := a.slot; at >= 0 {
		end := len(h.slots) - 1
		last := h.slots[end]
		h.slots[end] = alarmSlot[K]{}
		h.slots = h.slots[:end]
		if at < end {
			h.place(at, last)
		}
		if cap(h.slots) > roomy && len(h.slots) <= cap(h.slots)/sparse {
			h.slots = slices.Clone(h.slots)
		}
	}
	a.entry.alarm = nil
	*a = alarm[K]{}
	h.pool.put(a)
}

// place puts a slot at a place, whose content is of no more use, or further up or
// down from there.
func (h *alarmHeap[K]) place(at int, slot alarmSlot[K]) {
	for at > 0 {
		parent := (at - 1) / 4
		if !slot.before(&h.slots[parent]) {
			break
		}
		h.put(at, h.slots[parent])
		at = parent
	}
	for {
		child := h.firstChild(at)
		if child == 0 || !h.slots[child].before(&slot) {
			break
		}
		h.put(at, h.slots[child])
		at = child
	}
	h.put(at, slot)
}

// firstChild returns which child of a place is the first to ring, 0 for none.
func (h *alarmHeap[K]) firstChild(at int) int {
	first := 4*at + 1
	if first >= len(h.slots) {
		return 0
	}
	for child := first + 1; child < min(4*at+5, len(h.slots)); child++ {
		if h.slots[child].before(&h.slots[first]) {
			first = child
		}
	}
	return first
}

func (h *alarmHeap[K]) put(at int, slot alarmSlot[K]) {
	h.slots[at] = slot
	slot.alarm.slot = at
}
