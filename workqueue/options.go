package workqueue

import (
	"cmp"
	"log/slog"
	"time"
)

// Options says what a queue is called and how it retries. The zero value works,
// and there are no invalid ones.
type Options[K comparable] struct {
	// Name appears in errors, in logs and in Stats. Defaults to "".
	Name string

	// RateLimiter decides how long AddRateLimited delays a key. One limiter may
	// serve several queues. Defaults to a DefaultRateLimiter of this queue's own.
	RateLimiter RateLimiter[K]

	// DrainTimeout is how long Run, after its context has ended, lets the workers
	// go on with what is queued. Negative means not at all. Defaults to 30 s.
	DrainTimeout time.Duration

	// Observer is told what happens in the queue. It must not be changed once the
	// queue is made. Defaults to nil: nobody.
	Observer *Observer[K]

	// Logger gets one line for each failed or panicked reconcile of Run, which
	// has no caller that it could return the error to. Defaults to discarding.
	Logger *slog.Logger
}

// withDefaults returns the options with each field that is zero filled in.
func (o Options[K]) withDefaults() Options[K] {
	if o.RateLimiter == nil {
		o.RateLimiter = DefaultRateLimiter[K]()
	}
	o.DrainTimeout = cmp.Or(o.DrainTimeout, 30*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return o
}
