package workqueue

import (
	"errors"
	"fmt"
	"slices"
)

// Verify checks the invariants of a queue, and that no wake-up is lost. It must be called while
// nothing else uses the queue. It visits every entry.
func (q *Queue[K]) Verify() error {
	q.mu.Lock()
	defer q.mu.Unlock()

	var known, dirty, ready, processing, parked, alarms, delayed, waits int
	for e := range q.entries.all {
		known++
		if err := q.verifyEntry(e); err != nil {
			return fmt.Errorf("entry of %v: %w", e.key, err)
		}
		dirty += count(e.dirty)
		ready += count(e.ready())
		processing += count(e.processing)
		parked += count(e.parked > 0)
		waits += int(e.parked)
		alarms += count(e.span != 0)
		delayed += count(e.delayed())
	}
	if known != q.entries.len {
		return fmt.Errorf("%d entries, length %d", known, q.entries.len)
	}
	if err := q.ready.verify(ready); err != nil {
		return fmt.Errorf("ready: %w", err)
	}
	if n, err := q.processing.verify(func(e *entry[K]) bool { return e.processing }); err != nil || n != processing {
		return fmt.Errorf("processing: %d, want %d: %w", n, processing, err)
	}
	if err := q.alarms.verify(alarms); err != nil {
		return fmt.Errorf("alarms: %w", err)
	}
	if delayed != q.delayed {
		return fmt.Errorf("%d keys are delayed, and counted as %d", delayed, q.delayed)
	}
	if parked != q.parked {
		return fmt.Errorf("%d keys are parked, and counted as %d", parked, q.parked)
	}
	if got := int(q.stats.Adds - q.stats.Gets - q.stats.Dropped); got != dirty {
		return fmt.Errorf("Adds - Gets - Dropped is %d, but %d keys are dirty", got, dirty)
	}
	if got := int(q.stats.Gets - q.stats.Dones); got != processing {
		return fmt.Errorf("Gets - Dones is %d, but %d keys are processing", got, processing)
	}
	if ready > 0 && !q.shuttingDown && len(q.wake) == 0 {
		return fmt.Errorf("%d keys are ready and no Get is woken", ready)
	}
	if alarms > 0 && q.pending <= waits {
		return fmt.Errorf("%d alarms are set and no timer runs", alarms)
	}
	spares := q.entries.pool.spare
	if extra := q.entries.pool.extra.Value(); extra != nil {
		spares = append(slices.Clone(spares), *extra...)
	}
	for _, e := range spares {
		if *e != (entry[K]{}) {
			return fmt.Errorf("a spare entry still holds %v", e.key)
		}
	}
	return nil
}

// verifyEntry checks that the parts of an entry agree.
func (q *Queue[K]) verifyEntry(e *entry[K]) error {
	switch mayBeReady := e.dirty && !e.processing && !e.heldBack(); {
	case q.entries.find(e.key, q.hash(e.key)) != e:
		return errors.New("not found by its key")
	case e.idle():
		return errors.New("kept for no reason")
	case e.ready() && !mayBeReady:
		return errors.New("ready though it must not be")
	case !e.ready() && mayBeReady:
		return errors.New("not ready though nothing keeps it from being so")
	case e.nextAlarm() != never && !e.processing && (e.span == 0 || e.alarm.at > max(e.nextAlarm(), q.alarms.floor)):
		return errors.New("its alarm rings too late")
	case e.delayed() && e.span == 0:
		return errors.New("delayed for ever")
	}
	return nil
}

func (r *readyKeys[K]) verify(want int) error {
	total, empty := 0, 0
	for i, l := range r.levels {
		empty += count(l.len == 0)
		if i > 0 && l.priority >= r.levels[i-1].priority {
			return fmt.Errorf("level %d comes after level %d", l.priority, r.levels[i-1].priority)
		}
		n := 0
		for lane := range l.queues.all {
			in, err := lane.keys.verify(func(e *entry[K]) bool {
				return e.groupQueue == lane && e.pending.priority == l.priority && (!r.grouped || l.byGroup[e.group] == lane)
			})
			if err != nil || in == 0 && r.grouped || lane.level != l {
				return fmt.Errorf("level %d has a group queue of %d: %w", l.priority, in, err)
			}
			n += in
		}
		if n != l.len {
			return fmt.Errorf("level %d has %d keys, length %d", l.priority, n, l.len)
		}
		total += n
	}
	if empty != r.empty || empty > maxEmptyLevels {
		return fmt.Errorf("%d levels are empty, and counted as %d", empty, r.empty)
	}
	if total != want || total != r.len {
		return fmt.Errorf("%d keys listed, length %d, want %d", total, r.len, want)
	}
	return nil
}

// verify returns the number of entries in the list.
func (f *fifo[K]) verify(belongs func(*entry[K]) bool) (n int, err error) {
	var prev *entry[K]
	for e := f.first; e != nil; prev, e = e, e.next {
		if e.prev != prev || !belongs(e) {
			return n, fmt.Errorf("%v is misplaced", e.key)
		}
		n++
	}
	if f.last != prev || n != f.len {
		return n, fmt.Errorf("%d entries listed, length %d", n, f.len)
	}
	return n, nil
}

func (h *alarms[K]) verify(want int) error {
	total := 0
	for b := range h.spans {
		l := &h.spans[b]
		if (l.first != nil) != (h.used>>b&1 == 1) {
			return fmt.Errorf("whether span %d is in use is wrong", b)
		}
		var prev *entry[K]
		for e := l.first; e != nil; prev, e = e, e.alarm.next {
			if e.alarm.prev != prev || int(e.span) != b+1 || b != h.spanOf(e) && b != h.spreading || e.alarm.at < l.least || e.alarm.at < h.floor {
				return fmt.Errorf("the alarm of %v is misplaced", e.key)
			}
			total++
		}
		if l.last != prev {
			return fmt.Errorf("span %d ends too early", b)
		}
	}
	if total != want {
		return fmt.Errorf("%d in spans, want %d", total, want)
	}
	return nil
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// LevelsKept returns the number of priority levels in memory, with keys or without.
func (q *Queue[K]) LevelsKept() int { return len(q.ready.levels) }

// GroupsKept returns the number of groups in memory, at all priorities.
func (q *Queue[K]) GroupsKept() int {
	n := 0
	for _, l := range q.ready.levels {
		n += len(l.byGroup)
	}
	return n
}
