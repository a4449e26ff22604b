package lease

import (
	"sync/atomic"
	"time"
)

// instant is a moment by the machine's clocks that cannot be set. Go's monotonic clock stops while
// the machine is suspended, but the clocks of other machines go on. So an instant also counts the
// time in suspension.
type instant struct {
	awake  time.Time     // by Go's monotonic clock
	asleep time.Duration // how long the machine has been suspended
}

func now() instant {
	asleep := suspended() + time.Duration(extraSuspension.Load())
	return instant{awake: time.Now(), asleep: asleep}
}

// sub returns the time from the instant other to i.
func (i instant) sub(other instant) time.Duration {
	return i.awake.Sub(other.awake) + i.asleep - other.asleep
}

// add returns the moment d after i.
func (i instant) add(d time.Duration) instant {
	i.awake = i.awake.Add(d)
	return i
}

// extraSuspension is extra suspension time for tests, which cannot suspend the machine.
var extraSuspension atomic.Int64
