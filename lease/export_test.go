package lease

import "time"

// Suspend has the clocks say that the machine was suspended, until what it returns is called.
func Suspend(d time.Duration) (undo func()) {
	nap.Add(int64(d))
	return func() { nap.Add(-int64(d)) }
}
