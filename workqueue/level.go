package workqueue

import "time"

// level holds the ready keys of one priority. With a Group function they are
// served lane by lane; otherwise there is one lane.
type level[K comparable] struct {
	priority int
	len      int
	waits    uint64 // since which turn it has not been served
	lanes    ring[K]

	only    lane[K]             // the one lane, without groups
	byGroup map[string]*lane[K] // the lanes that have keys, with groups
	spare   *pool[lane[K]]      // where these come from
}

func (l *level[K]) push(e *entry[K]) {
	lane := l.laneOf(e)
	lane.weight = max(e.weight, 1)
	if lane.keys.len == 0 {
		l.lanes.enter(lane)
	}
	lane.keys.push(e)
	e.lane = lane
	l.len++
}

func (l *level[K]) laneOf(e *entry[K]) *lane[K] {
	if l.byGroup == nil {
		return &l.only
	}
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
	lane.credit--
	if lane.credit <= 0 {
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
	if lane.keys.len > 0 {
		return
	}
	l.lanes.leave(lane)
	if l.byGroup != nil {
		delete(l.byGroup, e.group)
		l.spare.put(lane)
	}
}

// oldest returns since when the key has been ready that has been so for longest,
// of the first ones of the lanes; there must be one.
func (l *level[K]) oldest() time.Duration {
	oldest := never
	for lane := l.lanes.first; ; {
		oldest = min(oldest, lane.keys.first.readied)
		if lane = lane.next; lane == l.lanes.first {
			return oldest
		}
	}
}
