package workqueue

import "time"

// level holds the ready keys of one priority. With groups, each group that has keys has a
// groupQueue, and these are served in turn. Without groups there is always one groupQueue.
type level[K comparable] struct {
	priority   int32
	len        int
	lastServed uint64 // number of the run that served it last
	queues     groupRing[K]

	byGroup   map[string]*groupQueue[K] // nil without groups
	maxGroups int                       // maximum size of byGroup so far, see shrinkMap
	spare     *pool[groupQueue[K]]      // unused group queues
}

func (l *level[K]) push(e *entry[K]) {
	gq := l.queues.first
	if l.byGroup != nil {
		gq = l.queueOf(e)
		gq.weight = e.weight
		if gq.keys.len == 0 {
			l.queues.push(gq)
		}
	}
	gq.keys.push(e)
	e.groupQueue = gq
	l.len++
}

// queueOf returns the queue of the entry's group, and makes a new one if necessary.
func (l *level[K]) queueOf(e *entry[K]) *groupQueue[K] {
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
	gq := l.queues.first
	if gq.credit--; gq.credit <= 0 {
		l.queues.rotate()
	}
	e := gq.keys.first
	l.remove(e)
	return e
}

// remove removes an entry that is in this level.
func (l *level[K]) remove(e *entry[K]) {
	gq := e.groupQueue
	e.groupQueue = nil
	gq.keys.remove(e)
	l.len--
	if gq.keys.len == 0 && l.byGroup != nil {
		l.queues.remove(gq)
		delete(l.byGroup, e.group)
		l.byGroup = shrinkMap(l.byGroup, &l.maxGroups)
		gq.level = nil
		gq.weight, gq.credit = 0, 0
		l.spare.put(gq)
	}
}

// oldest returns the earliest ready time among the first entries of the group queues; the level
// must not be empty.
func (l *level[K]) oldest() time.Duration {
	oldest := never
	for gq := range l.queues.all {
		oldest = min(oldest, gq.keys.first.since)
	}
	return oldest
}
