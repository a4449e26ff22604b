package workqueue

import (
	"container/heap"
	"time"
)

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
