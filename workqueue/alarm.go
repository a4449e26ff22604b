package workqueue

import (
	"math"
	"slices"
	"time"
)

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

// delayed reports that the key has a time to be added at.
func (e *entry[K]) delayed() bool { return e.due > 0 }

// rings returns the next time that matters to the entry: when its delay is over,
// or when MinInterval allows its next turn, whichever is first.
func (e *entry[K]) rings() time.Duration {
	switch {
	case e.due == 0 && e.cool == 0:
		return never
	case e.due == 0:
		return e.cool
	case e.cool == 0:
		return e.due
	}
	return min(e.due, e.cool)
}

// alarms is a heap of times at which entries are to be looked at, the first one
// first, and of equal ones the first to be set. A slot never moves for its entry's
// sake: an alarm that is set to an earlier time is a new slot, and the old one is
// stale; one that is set to a later time rings early, and is set again then. So
// entries need not know where their slots are, and to sort is to move slots alone.
// Stale ones are left out when they come first or are most of all.
type alarms[K comparable] struct {
	slots []alarm[K] // the children of i are 4i+1 to 4i+4
	seq   uint64     // number of the latest slot
	stale int
}

// alarm is a slot. It is stale if its number is not that of its entry.
type alarm[K comparable] struct {
	at    time.Duration
	seq   uint64
	entry *entry[K]
}

func (a *alarm[K]) stale() bool { return a.entry.alarm != a.seq }

func (a *alarm[K]) before(other *alarm[K]) bool {
	return a.at < other.at || a.at == other.at && a.seq < other.seq
}

// set makes the entry's alarm ring when it should, or before, and reports whether
// it is the first of all now.
func (h *alarms[K]) set(e *entry[K]) bool {
	at := e.rings()
	if e.alarm != 0 && e.alarmAt <= at {
		return false
	}
	h.unset(e)
	h.seq++
	e.alarm, e.alarmAt = h.seq, at
	h.slots = append(h.slots, alarm[K]{at: at, seq: h.seq, entry: e})
	h.up(len(h.slots) - 1)
	return h.slots[0].seq == e.alarm
}

// unset makes the entry's alarm stale, if there is one.
func (h *alarms[K]) unset(e *entry[K]) {
	if e.alarm == 0 {
		return
	}
	e.alarm = 0
	h.stale++
	if h.stale > len(h.slots)/2 && h.stale > minSlots {
		h.sweep()
	}
}

// first returns when the first alarm rings; never if there is none.
func (h *alarms[K]) first() time.Duration {
	for len(h.slots) > 0 && h.slots[0].stale() {
		h.stale--
		h.pop()
	}
	if len(h.slots) == 0 {
		return never
	}
	return h.slots[0].at
}

// ring takes out the first alarm, which first has found, and returns its entry.
func (h *alarms[K]) ring() *entry[K] {
	e := h.slots[0].entry
	e.alarm = 0
	h.pop()
	return e
}

// pop takes out the first slot.
func (h *alarms[K]) pop() {
	end := len(h.slots) - 1
	h.slots[0] = h.slots[end]
	h.slots[end] = alarm[K]{}
	h.slots = h.slots[:end]
	h.down(0)
	h.shrink()
}

// sweep takes out all stale slots.
func (h *alarms[K]) sweep() {
	h.slots = slices.DeleteFunc(h.slots, func(a alarm[K]) bool { return a.stale() })
	h.stale = 0
	for i := len(h.slots)/4 + 1; i >= 0; i-- {
		h.down(i)
	}
	h.shrink()
}

func (h *alarms[K]) shrink() {
	if cap(h.slots) > roomy && len(h.slots) <= cap(h.slots)/sparse {
		h.slots = slices.Clone(h.slots)
	}
}

// up moves a slot towards the first one, to where it belongs.
func (h *alarms[K]) up(i int) {
	moving := h.slots[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !moving.before(&h.slots[parent]) {
			break
		}
		h.slots[i] = h.slots[parent]
		i = parent
	}
	h.slots[i] = moving
}

// down moves a slot away from the first one, to where it belongs.
func (h *alarms[K]) down(i int) {
	if i >= len(h.slots) {
		return
	}
	moving := h.slots[i]
	for {
		child := h.firstChild(i)
		if child == 0 || !h.slots[child].before(&moving) {
			break
		}
		h.slots[i] = h.slots[child]
		i = child
	}
	h.slots[i] = moving
}

// firstChild returns which child of a slot is the first to ring, 0 if it has none.
func (h *alarms[K]) firstChild(i int) int {
	first := 4*i + 1
	if first >= len(h.slots) {
		return 0
	}
	for child := first + 1; child < min(4*i+5, len(h.slots)); child++ {
		if h.slots[child].before(&h.slots[first]) {
			first = child
		}
	}
	return first
}
