package rest

import (
	"fmt"
	"os"
	"time"
)

// silence measures how long a response that has started is silent.
type silence struct {
	timer  *time.Timer   // ends the exchange; nil before the first wait, stopped between waits
	waited time.Duration // waiting time since enough bytes last arrived
	bytes  int           // received in this time
}

// minProgressBytes is how many bytes end a silence. If a single byte ended it, a server could keep
// a caller waiting for years.
const minProgressBytes = 1 << 10

// errSilent is the cause that ends an exchange whose response has become silent.
var errSilent = fmt.Errorf("the response has stopped: %w", os.ErrDeadlineExceeded)

// Read reads the response. It ends the exchange if the response is silent for MaxSilence.
func (x *exchange) Read(p []byte) (n int, err error) {
	limit := x.config.maxSilence
	if limit == 0 {
		return x.response.Body.Read(p)
	}
	s := &x.silence
	wait := max(limit-s.waited, 1)
	if s.timer == nil {
		cancel := x.cancel // a stopped timer may stay alive for a while, and must not keep x
		s.timer = time.AfterFunc(wait, func() { cancel(errSilent) })
	} else {
		s.timer.Reset(wait)
	}
	start := time.Now()
	n, err = x.response.Body.Read(p)
	s.timer.Stop()
	s.waited += time.Since(start)
	if s.bytes += n; s.bytes >= minProgressBytes {
		s.waited, s.bytes = 0, 0
	}
	return n, err
}

// readIdle is like Read, but does not limit the silence. It is for the time between two events of a
// watch.
func (x *exchange) readIdle(p []byte) (n int, err error) {
	x.silence.waited, x.silence.bytes = 0, 0
	return x.response.Body.Read(p)
}
