package workqueue

import "time"

// level holds the ready keys of one priority. With groups, each that has keys has
// a lane, and they are served in turn; without, there is one lane, always.
type level[K comparable] struct {
	priority int32
	len      int
	waits    uint64 // since which turn it has not been served
	lanes    ring[K]

	byGroup map[string]*lane[K] // the lanes, if there are groups
	groups  int                 // how many byGroup had at most, see fitted
	spare   *pool[lane[K]]      // where they come from
}

func (l *level[K]) push(e *entry[K]) {
	lane := l.lanes.first
	if l.byGroup != nil {
		lane = l.laneOf(e)
		lane.weight = e.weight
		if lane.keys.len == 0 {
			l.lanes.enter(lane)
		}
	}
	lane.keys.push(e)
	e.lane = lane
	l.len++
}

// laneOf returns the lane of the entry's group, and makes it if there is none.
func (l *level[K]) laneOf(e *entry[K]) *lane[K] {
	found := l.byGroup[e.group]
	if found == nil {
		found = l.spare.get()
		found.level = l
		l.byGroup[e.group] = found
	}
	return found
}

// pop takes out the entry whose turn it is; there must be one.
func (l *level[K]) pop() *entry[K] {
	lane := l.lanes.first
	if lane.credit--; lane.credit <= 0 {
		l.lanes.rotate()
	}
	e := lane.keys.first
	l.remove(e)
	return e
}

// remove takes out an entry that is in this level.
func (l *level[K]) remove(e *entry[K]) {
	lane := e.lane
	e.lane = nil
	lane.keys.remove(e)
	l.len--
	if lane.keys.len == 0 && l.byGroup != nil {
		l.lanes.leave(lane)
		delete(l.byGroup, e.group)
		l.byGroup = fitted(l.byGroup, &l.groups)
		lane.level = nil
		lane.weight, lane.credit = 0, 0
		l.spare.put(lane)
	}
}

// oldest returns since when the key has been ready that has been so for longest,
// of the first ones of the lanes; there must be one.
func (l *level[K]) oldest() time.Duration {
	oldest := never
	for lane := range l.lanes.all {
		oldest = min(oldest, lane.keys.first.since)
	}
	return oldest
}
