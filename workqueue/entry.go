package workqueue

import (
	"math"
	"time"
)

// entry is what the queue knows of one key. Times are durations since the
// queue's epoch: a third of the size of a time.Time, and cheaper to read.
type entry[K comparable] struct {
	// What most adds look at is in the 64 bytes that a processor reads at once, for
	// keys of two strings.
	key        K
	hash       uint64
	chain      *entry[K] // the next in its slot of the table
	dirty      bool
	processing bool
	parked     int32 // waits of Park that hold it back
	work       work  // what is due, if dirty

	running work // what is being done, if processing

	// An entry is in at most one fifo: a lane of the ready keys, or processing.
	prev, next *entry[K]
	lane       *lane[K] // while ready

	// These three are 0 if no times are kept.
	added   time.Duration // when it became dirty
	readied time.Duration // when it became ready
	started time.Duration // when it was handed out

	cool time.Duration // when MinInterval allows its next turn; 0 if it does
	due  time.Duration // when later is to be added; 0 if never

	later   work          // what is to be added then
	alarm   uint64        // number of its alarm, 0 if there is none
	alarmAt time.Duration // when that one rings

	group group
}

// idle reports that there is no reason to keep the entry.
func (e *entry[K]) idle() bool {
	return !e.dirty && !e.processing && e.parked == 0 && e.alarm == 0
}

// clear makes an idle entry the zero entry, which it mostly is already.
func (e *entry[K]) clear() {
	var none K
	e.key, e.hash, e.chain = none, 0, nil
	e.group = group{}
	e.added, e.readied, e.started, e.cool, e.alarmAt = 0, 0, 0, 0, 0
	e.work, e.running, e.later = work{}, work{}, work{}
}

// work is a turn that is due: how urgent it is, how many adds made it so, and why.
type work struct {
	priority int32
	adds     uint32
	why      *why // nil if no add has said so
}

// clamp returns the priority as one of work.
func clamp(priority int) int32 { return int32(min(max(priority, math.MinInt32), math.MaxInt32)) }
