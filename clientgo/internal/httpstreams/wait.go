package httpstreams

import "time"

// AtMost calls f in a goroutine, and waits at most d for it. It is for calls that a peer can block:
// all writes to a SPDY connection wait for each other, including the write of its Close. If the
// peer has stopped reading, f ends when the network gives up the connection.
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
