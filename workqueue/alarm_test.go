package workqueue

import (
	"container/heap"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// alarmsRig applies the same operations to alarms and to a heap, and compares them.
type alarmsRig struct {
	t       *testing.T
	random  *rand.Rand
	least   int // the minimum number of bits of a delay
	now     time.Duration
	alarms  alarms[int]
	oracle  alarmHeap
	entries []entry[int]
	partial int // number of calls of popDue that did not finish
}

// change sets some alarms, most of them to new times, and removes some.
func (r *alarmsRig) change(n int) {
	for range n {
		e := &r.entries[r.random.IntN(len(r.entries))]
		if r.random.IntN(4) == 0 {
			r.alarms.unset(e)
			r.oracle.unset(e.key)
			continue
		}
		// The times have all magnitudes, and are often equal.
		size := r.least + r.random.IntN(40-r.least)
		at := ((r.now+time.Duration(r.random.Int64N(4))<<size)>>(size-2) + 1) << (size - 2)
		if r.random.IntN(8) == 0 {
			at = 1 + r.now/2 // such as the end of an interval while a worker has the key
		}
		before := r.alarms.first()
		first := r.alarms.set(e, at)
		at = max(at, r.alarms.floor)
		r.oracle.set(e.key, at)
		require.Equal(r.t, at, e.alarm.at)
		if at < before && !first {
			r.t.Fatalf("set to %d, before the first at %d, and set does not report this", at, before)
		}
	}
	require.NoError(r.t, r.alarms.verify(r.oracle.Len()))
}

// ring lets time pass, and compares the alarms that are due.
func (r *alarmsRig) ring(d time.Duration) {
	r.now += d
	for {
		e, more := r.alarms.popDue(r.now)
		at, key := r.oracle.first()
		switch {
		case more:
			require.Nil(r.t, e)
			r.partial++
			r.change(5)
		case e == nil:
			require.Greater(r.t, at, r.now, "the alarm of %d must be returned", key)
			require.Greater(r.t, r.alarms.first(), r.now)
			require.LessOrEqual(r.t, r.alarms.first(), at, "the timer must not fire too late")
			return
		default:
			require.Equal(r.t, key, e.key)
			require.LessOrEqual(r.t, at, r.now)
			r.oracle.unset(key)
		}
	}
}

func TestAlarmsRingInOrder(t *testing.T) { // WQ-22
	t.Parallel()
	partial := 0
	for seed := range uint64(6) {
		r := &alarmsRig{
			t: t, least: []int{2, 37}[seed%2], random: rand.New(rand.NewPCG(seed, 0)),
			oracle: alarmHeap{byKey: make(map[int]*oneAlarm)}, entries: make([]entry[int], 8*spreadAtOnce),
		}
		for key := range r.entries {
			r.entries[key].key = key
		}
		r.change(4 * len(r.entries))
		for range 50 {
			r.change(r.random.IntN(20))
			r.ring(time.Duration(r.random.Int64N(2)) << r.random.IntN(38))
		}
		for r.oracle.Len() > 0 {
			r.ring(time.Hour)
		}
		require.Zero(t, r.alarms.used)
		partial += r.partial
	}
	require.Positive(t, partial)
}

// alarmHeap is the textbook version of alarms: a binary heap of times. Equal times keep the order
// in which they were set.
type alarmHeap struct {
	order []*oneAlarm
	byKey map[int]*oneAlarm
	sets  int
}

type oneAlarm struct {
	key, set, index int
	at              time.Duration
}

func (h *alarmHeap) set(key int, at time.Duration) {
	if a := h.byKey[key]; a != nil && a.at == at {
		return // the alarm keeps its place
	}
	h.unset(key)
	h.sets++
	h.byKey[key] = &oneAlarm{key: key, set: h.sets, at: at}
	heap.Push(h, h.byKey[key])
}

func (h *alarmHeap) unset(key int) {
	if a := h.byKey[key]; a != nil {
		heap.Remove(h, a.index)
		delete(h.byKey, key)
	}
}

// first returns the time and the key of the first alarm.
func (h *alarmHeap) first() (at time.Duration, key int) {
	if len(h.order) == 0 {
		return never, -1
	}
	return h.order[0].at, h.order[0].key
}

func (h *alarmHeap) Len() int { return len(h.order) }

func (h *alarmHeap) Less(i, j int) bool {
	a, b := h.order[i], h.order[j]
	return a.at < b.at || a.at == b.at && a.set < b.set
}

func (h *alarmHeap) Swap(i, j int) {
	h.order[i], h.order[j] = h.order[j], h.order[i]
	h.order[i].index, h.order[j].index = i, j
}

func (h *alarmHeap) Push(a any) {
	a.(*oneAlarm).index = len(h.order)
	h.order = append(h.order, a.(*oneAlarm))
}

func (h *alarmHeap) Pop() any {
	last := h.order[len(h.order)-1]
	h.order = h.order[:len(h.order)-1]
	return last
}
