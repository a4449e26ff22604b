package httpstreams

import "time"

// AtMost calls f in a goroutine, and waits for it, but not for longer than d. It is for what a peer can hold up: all writes to a SPDY
// connection wait for each other, the one of its Close included. Where a peer takes nothing any more, f ends when the network has given
// up the connection.
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
