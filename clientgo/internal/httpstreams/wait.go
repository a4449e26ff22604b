package httpstreams

import "time"

// AtMost calls f in a goroutine, and waits at most d for it. It is for calls that a peer can block.
// All writes to a SPDY connection wait for each other, including the write in its Close. If the
// peer has stopped reading, f returns only when the operating system closes the connection.
func AtMost(d time.Duration, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
