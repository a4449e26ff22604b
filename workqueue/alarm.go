package workqueue

import (
	"math"
	"math/bits"
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

// alarms holds the entries that are to be looked at at some time, and tells which
// are first; those of equal times in the order in which they were set. It is a
// radix heap. It can be one because time does not go back: no alarm is set to a
// time before that of one that has rung already, the floor.
//
// Bucket n has the alarms whose time has n as the number of the highest bit, counted
// from 1, in which it is not the floor; bucket 0 those that are the floor. So those
// of a bucket are all before those of the next. To set an alarm is to put it at the
// end of its bucket's list, to take it out is to unlink it, however many there are,
// and nothing is sorted. When the first bucket in use is to ring, its least time
// becomes the floor, and it is spread: its alarms all go to buckets before it, still
// in their order. So each has fewer buckets to go with each time that it is looked at.
type alarms[K comparable] struct {
	buckets   []bucketOfAlarms[K] // nil until there was an alarm
	used      uint64              // bit n is set if bucket n has alarms
	spreading int                 // the bucket that is being spread, 0 if none is
	floor     time.Duration       // no alarm is before it
}

// bucketOfAlarms is a list of entries, linked through them.
type bucketOfAlarms[K comparable] struct {
	first, last *entry[K]
	least       time.Duration // none is before it; it may have been that of one that is gone
}

// spreadAtOnce is how many alarms are moved with the lock held: 100,000, such as
// those of one resync, would hold up everyone for milliseconds.
const spreadAtOnce = 128

// set makes the entry's alarm ring when it should, and reports whether that may be
// before all others. A time that has passed is now.
func (h *alarms[K]) set(e *entry[K]) bool {
	at := max(e.rings(), h.floor)
	if e.bucket > 0 && e.alarmAt == at {
		return false // it keeps its place among those of the same time
	}
	h.unset(e)
	first := at < h.first()
	e.alarmAt = at
	if h.spreading > 0 {
		h.push(e, h.spreading) // behind those of the same time that are there
	} else {
		h.push(e, h.bucketOf(e))
	}
	return first
}

// bucketOf returns the number of the bucket where an entry belongs.
func (h *alarms[K]) bucketOf(e *entry[K]) int { return bits.Len64(uint64(e.alarmAt ^ h.floor)) }

// push puts an entry at the end of a bucket.
func (h *alarms[K]) push(e *entry[K], bucket int) {
	if h.buckets == nil {
		h.buckets = make([]bucketOfAlarms[K], 64)
	}
	b := &h.buckets[bucket]
	e.bucket = uint8(bucket + 1)
	e.alarmPrev = b.last
	if b.last == nil {
		b.first, b.least = e, e.alarmAt
		h.used |= 1 << bucket
	} else {
		b.last.alarmNext = e
		b.least = min(b.least, e.alarmAt)
	}
	b.last = e
}

// unset takes out the entry's alarm, if there is one.
func (h *alarms[K]) unset(e *entry[K]) {
	if e.bucket == 0 {
		return
	}
	n := e.bucket - 1
	b := &h.buckets[n]
	if e.alarmPrev == nil {
		b.first = e.alarmNext
	} else {
		e.alarmPrev.alarmNext = e.alarmNext
	}
	if e.alarmNext == nil {
		b.last = e.alarmPrev
	} else {
		e.alarmNext.alarmPrev = e.alarmPrev
	}
	if b.first == nil {
		h.used &^= 1 << n
	}
	e.bucket, e.alarmAt, e.alarmPrev, e.alarmNext = 0, 0, nil, nil
}

// first returns when the first alarm rings, or some time before it, if one was there
// that has been taken out; never if there is none.
func (h *alarms[K]) first() time.Duration {
	switch {
	case h.spreading > 0:
		return h.floor
	case h.used == 0:
		return never
	}
	return h.buckets[bits.TrailingZeros64(h.used)].least
}

// ring takes out the first alarm of those that ring by now, and returns its entry;
// nil if there is none, or if it is not done with looking for it, and more is true.
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
			e = h.buckets[0].first
			h.unset(e)
			return e, false
		}
		h.spreading, h.floor = n, h.buckets[n].least
	}
	return nil, false
}

// spread moves one alarm from the bucket that is being spread.
func (h *alarms[K]) spread() {
	e := h.buckets[h.spreading].first
	if e == nil {
		h.spreading = 0
		return
	}
	at := e.alarmAt
	h.unset(e)
	e.alarmAt = at
	h.push(e, h.bucketOf(e))
}

// all calls yield for every entry, which may take it out.
func (h *alarms[K]) all(yield func(*entry[K]) bool) {
	for i := range h.buckets {
		for e := h.buckets[i].first; e != nil; {
			next := e.alarmNext
			if !yield(e) {
				return
			}
			e = next
		}
	}
}
