package workqueue

import (
	"cmp"
	"math"
	"slices"
	"time"
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

// groupQueue holds the ready keys of one group at one level of priority, in the order in which they
// became ready.
type groupQueue[K comparable] struct {
	keys   fifo[K]
	level  *level[K]
	weight int32 // number of keys that the group gets in a row
	credit int32 // how many of them are left in this round

	prev, next *groupQueue[K] // neighbours in the level's groupRing
}

// groupRing is the ring of a level's group queues that have ready keys. Each group queue is served
// as many keys in a row as its weight, and then moves to the end.
type groupRing[K comparable] struct{ first *groupQueue[K] }

// push appends a group queue.
func (r *groupRing[K]) push(l *groupQueue[K]) {
	l.credit = l.weight
	if r.first == nil {
		l.prev, l.next = l, l
		r.first = l
		return
	}
	l.prev, l.next = r.first.prev, r.first
	l.prev.next, l.next.prev = l, l
}

// remove removes a group queue.
func (r *groupRing[K]) remove(l *groupQueue[K]) {
	if l.next == l {
		r.first = nil
	} else {
		l.prev.next, l.next.prev = l.next, l.prev
		if r.first == l {
			r.first = l.next
		}
	}
	l.prev, l.next = nil, nil
}

// rotate makes the first group queue the last.
func (r *groupRing[K]) rotate() {
	r.first.credit = r.first.weight
	r.first = r.first.next
}

// all calls the function yield for every group queue.
func (r *groupRing[K]) all(yield func(*groupQueue[K]) bool) {
	for l := r.first; l != nil && yield(l); {
		if l = l.next; l == r.first {
			return
		}
	}
}

// group is the group of a key, by Options.Group, and its weight, by Options.Weight.
type group struct {
	name   string
	weight int32 // at least 1; 0 if there are no groups
}

// groupOf calls Options.Group and Options.Weight. It must be called without the lock, and before
// the key gets an entry.
func (q *Queue[K]) groupOf(key K) group {
	if q.opts.Group == nil {
		return group{}
	}
	g := group{weight: 1}
	q.hooks.Call("Options.Group", func() { g.name = q.opts.Group(key) })
	if q.opts.Weight != nil {
		q.hooks.Call("Options.Weight", func() { g.weight = int32(min(max(q.opts.Weight(g.name), 1), math.MaxInt32)) })
	}
	return g
}
