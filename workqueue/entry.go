package workqueue

import (
	"math"
	"time"
)

// entry is what the queue knows of one key. Times are durations since the
// queue's epoch: a third of the size of a time.Time, and cheaper to read. Its
// three parts are, for keys of two strings, the 64 bytes each that a processor
// reads at once.
type entry[K comparable] struct {
	// What an add of a key looks at that is dirty already.
	key        K
	hash       uint32
	parked     int32 // waits of Park that hold it back
	dirty      bool
	processing bool
	bucket     uint8 // where its alarm is, see alarms; 0 if there is none
	weight     int32 // of its group; 0 if there are no groups
	work       work  // what is due, if dirty

	// What a turn needs besides. An entry is in at most one fifo: a lane of the ready
	// keys, or processing.
	prev, next *entry[K]
	lane       *lane[K]      // while ready
	running    work          // what is being done, if processing
	added      time.Duration // when it became dirty; 0 if no times are kept
	since      time.Duration // when it became ready, or was handed out; 0 likewise
	cool       time.Duration // when MinInterval allows its next turn; 0 if it does

	// What only keys have that are delayed, cool or belong to a group.
	due                  time.Duration // when later is to be added; 0 if never
	later                work          // what is to be added then
	alarmAt              time.Duration // when its alarm rings
	alarmPrev, alarmNext *entry[K]     // the others in its bucket
	group                string        // by Options.Group
}

// idle reports that there is no reason to keep the entry.
func (e *entry[K]) idle() bool {
	return !e.dirty && !e.processing && e.bucket == 0 && e.parked == 0
}

// clear makes an idle entry the zero entry, which it mostly is already.
func (e *entry[K]) clear() {
	var none K
	e.key, e.hash = none, 0
	e.added, e.since, e.cool = 0, 0, 0
	e.work, e.running = work{}, work{}
	if e.weight > 0 { // to leave those 64 bytes alone is half the price
		e.group, e.weight = "", 0
	}
}

// work is a turn that is due: how urgent it is, how many adds made it so, and why.
type work struct {
	priority int32
	adds     uint32
	why      *why // nil if no add has said so
}

// clamp returns the priority as one of work.
func clamp(priority int) int32 { return int32(min(max(priority, math.MinInt32), math.MaxInt32)) }
