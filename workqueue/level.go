package workqueue

import "time"

// level holds the ready keys of one priority. With groups, each group that has keys has a lane, and
// the lanes are served in turn. Without groups there is always one lane.
type level[K comparable] struct {
	priority int32
	len      int
	waits    uint64 // number of the run that served it last
	lanes    ring[K]

	byGroup map[string]*lane[K] // the lanes, if there are groups
	groups  int                 // maximum size of byGroup so far, see fitted
	spare   *pool[lane[K]]      // pool of unused lanes
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

// laneOf returns the lane of the entry's group, and makes a new one if necessary.
func (l *level[K]) laneOf(e *entry[K]) *lane[K] {
	found := l.byGroup[e.group]
	if found == nil {
		found = l.spare.get()
		found.level = l
		l.byGroup[e.group] = found
	}
	return found
}

// pop removes the entry that is served next; the level must not be empty.
func (l *level[K]) pop() *entry[K] {
	lane := l.lanes.first
	if lane.credit--; lane.credit <= 0 {
		l.lanes.rotate()
	}
	e := lane.keys.first
	l.remove(e)
	return e
}

// remove removes an entry that is in this level.
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

// oldest returns the earliest ready time among the first entries of the lanes; the level must not
// be empty.
func (l *level[K]) oldest() time.Duration {
	oldest := never
	for lane := range l.lanes.all {
		oldest = min(oldest, lane.keys.first.since)
	}
	return oldest
}
