package lease

import (
	"sync/atomic"
	"time"
)

// instant is a moment by the clocks of this machine that nobody sets. Go's clock stands
// still while a machine is suspended, and those of the others don't, so that time is counted
// beside it.
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

// nap is added to what the machine says of how long it was suspended: by tests, which
// cannot suspend it.
var nap atomic.Int64
