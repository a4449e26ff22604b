package rest

import (
	"fmt"
	"os"
	"time"
)

// silence measures how long an answer that has begun does not go on.
type silence struct {
	timer *time.Timer   // ends the exchange; nil before the first wait, stopped between two
	spent time.Duration // waiting, for fewer than enough bytes
	bytes int           // that came meanwhile
}

// enough is how many bytes end a silence. A byte now and then does not, or a server could
// have somebody wait for years.
const enough = 1 << 10

// errSilent is the cause with which an exchange ends whose answer does not go on.
var errSilent = fmt.Errorf("the answer has stopped: %w", os.ErrDeadlineExceeded)

// Read reads the answer, which must go on.
func (x *exchange) Read(p []byte) (n int, err error) {
	limit := x.client.maxSilence
	if limit == 0 {
		return x.response.Body.Read(p)
	}
	s := &x.silence
	wait := max(limit-s.spent, 1)
	if s.timer == nil {
		cancel := x.cancel // all that a timer is to keep alive, which may be after its stop
		s.timer = time.AfterFunc(wait, func() { cancel(errSilent) })
	} else {
		s.timer.Reset(wait)
	}
	start := time.Now()
	n, err = x.response.Body.Read(p)
	s.timer.Stop()
	s.spent += time.Since(start)
	if s.bytes += n; s.bytes >= enough {
		s.spent, s.bytes = 0, 0
	}
	return n, err
}

// idle reads the answer where it need not go on.
func (x *exchange) idle(p []byte) (n int, err error) {
	x.silence.spent, x.silence.bytes = 0, 0
	return x.response.Body.Read(p)
}
