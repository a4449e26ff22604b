package lease

import "time"

// Suspend makes the clocks show that the machine was suspended, until undo is called.
func Suspend(d time.Duration) (undo func()) {
	extraSuspension.Add(int64(d))
	return func() { extraSuspension.Add(-int64(d)) }
}
