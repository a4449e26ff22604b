package workqueue

import (
	"cmp"
	"slices"
)

// readyKeys holds the keys that are ready, and says whose turn it is: that of the
// highest priority, of its groups in turn, in the order of becoming ready. So
// that the others are not starved, one of every so many turns is for the
// level which has waited longest for a turn. The highest is among those: it may be
// one that is starved, by a higher one that comes and goes.
//
// plain/workqueue.go has a slice, in which a loud namespace makes all others wait: Jain's index of fairness is 0.46 there, 1.00 with groups here
// (bench/queue -fairness).
type readyKeys[K comparable] struct {
	levels []*level[K] // the highest priority first
	empty  int         // how many of them have no keys
	len    int

	ageing  int    // one of how many turns; 0 for none
	grouped bool   // whether levels have lanes by group
	turns   uint64 // handed out
	passed  int    // turns in a row of the highest level, while there were others

	lanes pool[lane[K]]
}

// maxEmptyLevels is how many levels without keys are kept for later ones.
const maxEmptyLevels = 8

func (r *readyKeys[K]) push(e *entry[K]) {
	l := r.level(e.due.priority)
	if l.len == 0 {
		l.waits = r.turns
		r.empty--
	}
	l.push(e)
	r.len++
}

// pop takes out the entry whose turn it is, or returns nil.
func (r *readyKeys[K]) pop() *entry[K] {
	if r.len == 0 {
		return nil
	}
	l := r.next()
	r.turns++
	l.waits = r.turns
	e := l.pop()
	r.len--
	r.tidy(l)
	return e
}

// next returns the level whose turn it is.
func (r *readyKeys[K]) next() *level[K] {
	top := 0
	for r.levels[top].len == 0 {
		top++
	}
	highest := r.levels[top]
	if highest.len == r.len || r.ageing == 0 {
		r.passed = 0
		return highest
	}
	r.passed++
	if r.passed < r.ageing {
		return highest
	}
	r.passed = 0
	patient := highest
	for _, l := range r.levels[top+1:] {
		if l.len > 0 && l.waits < patient.waits {
			patient = l
		}
	}
	return patient
}

// remove takes out an entry that is ready.
func (r *readyKeys[K]) remove(e *entry[K]) {
	l := e.lane.level
	l.remove(e)
	r.len--
	r.tidy(l)
}

// level returns the level of the priority, and makes an empty one if there is none.
func (r *readyKeys[K]) level(priority int32) *level[K] {
	if len(r.levels) > 0 && r.levels[0].priority == priority {
		return r.levels[0] // as it mostly is
	}
	at, found := slices.BinarySearchFunc(r.levels, priority, func(l *level[K], priority int32) int {
		return cmp.Compare(priority, l.priority)
	})
	if found {
		return r.levels[at]
	}
	l := &level[K]{priority: priority, spare: &r.lanes}
	if r.grouped {
		l.byGroup = make(map[string]*lane[K])
	} else {
		l.lanes.enter(&lane[K]{level: l})
	}
	r.levels = slices.Insert(r.levels, at, l)
	r.empty++
	return l
}

// tidy is called for a level that has lost a key. It drops the level if it is
// empty, and there are many such.
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
