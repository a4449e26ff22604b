package workqueue

import (
	"cmp"
	"log/slog"
	"time"
)

// Options says how a queue works. The zero value works, and no value is invalid.
type Options[K comparable] struct {
	// Name appears in errors, in logs and in Stats. Defaults to "".
	Name string

	// RateLimiter decides how long Retry delays a key. One limiter may
	// serve several queues. Defaults to a DefaultRateLimiter of this queue's own.
	RateLimiter RateLimiter[K]

	// MinInterval is the least time from one turn of a key to its next, both
	// counted from Get. A key that has had none for so long is handed out at once;
	// a key that is added earlier is handed out when the time is over, once, however
	// often it was added. It holds for all adds, and the queue keeps the key in memory
	// for that time. Negative means none. Defaults to 0: none.
	MinInterval time.Duration

	// Ageing keeps low priorities from starving: one of this many turns is not
	// for the highest priority, but for that which has waited longest for a turn.
	// So a key that becomes ready behind n others of its priority, while never more
	// than p priorities have keys, its own included, is handed out within
	// Ageing * p * (n + 1) turns. With groups, n is how many keys of its priority
	// go before it by their groups' turns, those that come later included: where i
	// of its own group are before it, whose weight is w, and never more than g groups
	// of its priority have keys, none of a weight above W, n is at most
	// i + (i/w + 1) * (g - 1) * W, without the fraction of i/w. If its priority is
	// raised, it counts anew from there. Defaults to 16; at 1, all priorities take
	// turns; negative means never.
	Ageing int

	// Group tells which group a key belongs to, such as its namespace. Groups of
	// the same priority are handed out in turn, so that one which adds thousands of
	// keys does not delay the few of another. It is called for every add, without a
	// lock, and must always say the same of a key. If it panics, that is logged and
	// counted, and the group is "". Defaults to nil: one group.
	Group func(key K) string

	// Weight tells how many keys a group is handed out in a row when it is its
	// turn. Less than one counts as one, and so does a panic. Defaults to nil: one.
	Weight func(group string) int

	// DrainTimeout is how long RunUntil, after its stop has ended, lets the workers go
	// on with the keys that are queued. Negative means as long as it takes. Run has no drain, so
	// this says nothing about it. Defaults to 30 s.
	DrainTimeout time.Duration

	// Timed keeps the times of each key's turn: since when it is ready, and with a
	// worker. Stats, Inspect and Item tell of them. A queue that has an Observer, or
	// has had a Run, keeps them in any case. Otherwise the clock is not read for a
	// turn, of which that would be a third. Defaults to false.
	Timed bool

	// Observer is told of each event in the queue. It must not be changed once the
	// queue is made. Defaults to nil: nobody.
	Observer *Observer[K]

	// Logger gets the failures of Run, which has no caller that it could return them
	// to, with Name: a warning when a key begins to fail or is dropped, an error with
	// the stack if it panicked, ten of them at most within five minutes; how many more
	// there were, every five minutes while there are any; and each of them at debug
	// level. Defaults to slog.Default(), as it is at New; slog.New(slog.DiscardHandler)
	// is silence.
	Logger *slog.Logger
}

// withDefaults returns the options with each field that is zero filled in.
func (o Options[K]) withDefaults() Options[K] {
	if o.RateLimiter == nil {
		o.RateLimiter = DefaultRateLimiter[K]()
	}
	o.Ageing = cmp.Or(o.Ageing, 16)
	o.DrainTimeout = cmp.Or(o.DrainTimeout, 30*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o
}
