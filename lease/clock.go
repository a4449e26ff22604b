package lease

import (
	"sync/atomic"
	"time"
)

// instant is a moment by the clocks of this machine that nobody sets. Go's monotonic clock stands
// still while the machine is suspended, and the clocks of other machines do not. So an instant
// also counts the time of suspension.
type instant struct {
	awake  time.Time     // with Go's monotonic clock
	asleep time.Duration // for how long the machine has been suspended
}

func now() instant {
	asleep := suspended() + time.Duration(nap.Load())
	return instant{awake: time.Now(), asleep: asleep}
}

// sub is the time from other to i.
func (i instant) sub(other instant) time.Duration {
	return i.awake.Sub(other.awake) + i.asleep - other.asleep
}

// add is the moment d after i.
func (i instant) add(d time.Duration) instant {
	i.awake = i.awake.Add(d)
	return i
}

// nap is added to the time of suspension, by tests, which cannot suspend the machine.
var nap atomic.Int64
