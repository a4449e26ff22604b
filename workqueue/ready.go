package workqueue

import (
	"cmp"
	"slices"
)

// readyKeys holds the ready keys and chooses the next key: by the highest priority, in turn among
// the groups of this priority, in the order of becoming ready. So that no level starves, one run in
// a number of runs (the field ageing) goes to the level that has waited longest. The highest level
// takes part in this choice, because a still higher level that comes and goes may starve it.
//
// plain/workqueue.go has a slice, in which a loud namespace makes all others wait. Jain's index of
// fairness is 0.46 there, and 1.00 with groups here (bench/queue -fairness).
type readyKeys[K comparable] struct {
	levels []*level[K] // the highest priority first
	empty  int         // number of levels without keys
	len    int

	ageing     int    // one in this many runs; 0 disables it
	grouped    bool   // whether a level has a groupQueue for each group
	served     uint64 // number of keys handed out
	passedOver int    // consecutive runs of the highest level while others had keys

	spareQueues pool[groupQueue[K]]
}

// maxEmptyLevels is the number of levels without keys that are kept for reuse.
const maxEmptyLevels = 8

func (r *readyKeys[K]) push(e *entry[K]) {
	l := r.level(e.pending.priority)
	if l.len == 0 {
		l.lastServed = r.served
		r.empty--
	}
	l.push(e)
	r.len++
}

// pop removes the next entry, or returns nil.
func (r *readyKeys[K]) pop() *entry[K] {
	if r.len == 0 {
		return nil
	}
	l := r.next()
	r.served++
	l.lastServed = r.served
	e := l.pop()
	r.len--
	r.tidy(l)
	return e
}

// next returns the level that is served next.
func (r *readyKeys[K]) next() *level[K] {
	top := 0
	for r.levels[top].len == 0 {
		top++
	}
	highest := r.levels[top]
	if highest.len == r.len || r.ageing == 0 {
		r.passedOver = 0
		return highest
	}
	r.passedOver++
	if r.passedOver < r.ageing {
		return highest
	}
	r.passedOver = 0
	longestWaiting := highest
	for _, l := range r.levels[top+1:] {
		if l.len > 0 && l.lastServed < longestWaiting.lastServed {
			longestWaiting = l
		}
	}
	return longestWaiting
}

// remove removes an entry that is ready.
func (r *readyKeys[K]) remove(e *entry[K]) {
	l := e.groupQueue.level
	l.remove(e)
	r.len--
	r.tidy(l)
}

// level returns the level of the priority, and makes an empty one if necessary.
func (r *readyKeys[K]) level(priority int32) *level[K] {
	if len(r.levels) > 0 && r.levels[0].priority == priority {
		return r.levels[0] // the usual case
	}
	at, found := slices.BinarySearchFunc(r.levels, priority, func(l *level[K], priority int32) int {
		return cmp.Compare(priority, l.priority)
	})
	if found {
		return r.levels[at]
	}
	l := &level[K]{priority: priority, spare: &r.spareQueues}
	if r.grouped {
		l.byGroup = make(map[string]*groupQueue[K])
	} else {
		l.queues.push(&groupQueue[K]{level: l})
	}
	r.levels = slices.Insert(r.levels, at, l)
	r.empty++
	return l
}

// tidy is called for a level that has lost a key. It drops the level if the level is empty and many
// other levels are empty too.
func (r *readyKeys[K]) tidy(l *level[K]) {
	if l.len > 0 {
		return
	}
	if r.empty == maxEmptyLevels {
		r.levels = slices.DeleteFunc(r.levels, func(other *level[K]) bool { return other == l })
		return
	}
	r.empty++
}
