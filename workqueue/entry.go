package workqueue

import "time"

// entry is what the queue knows of one key. Times are durations since the
// queue's epoch: a third of the size of a time.Time, and cheaper to read.
type entry[K comparable] struct {
	key   K
	hash  uint64
	chain *entry[K] // the next in its slot of the table

	dirty      bool
	processing bool
	parked     int32 // waits of Park that hold it back

	weight int32 // of its group
	group  string

	work    work // what is due, if dirty
	running work // what is being done, if processing

	added   time.Duration // when it became dirty
	readied time.Duration // when it became ready
	started time.Duration // when it was handed out
	cool    time.Duration // when MinInterval allows its next turn; 0 if it does

	// An entry is in at most one fifo: a lane of the ready keys, or processing.
	prev, next *entry[K]
	lane       *lane[K] // while ready

	alarm *alarm[K] // while there is a time that matters to it
}

// idle reports that there is no reason to keep the entry.
func (e *entry[K]) idle() bool {
	return !e.dirty && !e.processing && e.parked == 0 && e.alarm == nil
}

// clear makes an idle entry the zero entry, which it mostly is already.
func (e *entry[K]) clear() {
	var none K
	e.key, e.hash, e.chain = none, 0, nil
	e.group, e.weight = "", 0
	e.added, e.readied, e.started, e.cool = 0, 0, 0, 0
	e.work, e.running = work{}, work{}
}

// work is a turn that is due: how urgent it is, and why.
type work struct {
	priority int
	causes   Causes
}

// merge adds further work to that which is due already.
func (w *work) merge(further *work) {
	w.priority = max(w.priority, further.priority)
	w.causes.merge(&further.causes)
}

// Causes says why a key has a turn: the first and the last of the causes that
// its adds named, and how many adds there were since its turn before, those
// included that named none.
type Causes struct {
	First, Last string
	Count       int
}

// merge adds causes that came later.
func (c *Causes) merge(later *Causes) {
	c.Count += later.Count
	if later.Last == "" {
		return
	}
	c.Last = later.Last
	if c.First == "" {
		c.First = later.First
	}
}

// because returns the causes of one add.
func because(cause string) Causes { return Causes{First: cause, Last: cause, Count: 1} }
