package workqueue

import (
	"cmp"
	"log/slog"
	"time"
)

// Options configures a queue. The zero value works, and no value is invalid.
type Options[K comparable] struct {
	// Name appears in errors, in logs and in Stats. Defaults to "".
	Name string

	// RateLimiter decides how long Retry delays a key. One limiter may
	// serve several queues. Defaults to a DefaultRateLimiter of this queue's own.
	RateLimiter RateLimiter[K]

	// MinInterval is the minimum time from one run of a key to the next, both counted from Get. A
	// key whose last run is longer ago is handed out at once. A key that is added earlier is handed
	// out once when the interval is over, however often it was added. MinInterval applies to all
	// adds, and the queue keeps the key in memory for that time. Negative means none. Defaults to
	// 0: none.
	MinInterval time.Duration

	// Ageing keeps low priorities from starving: one run in this number of runs goes to the
	// priority that has waited longest, instead of the highest. Let a key become ready behind n
	// others of its priority, while at most p priorities have keys, its own included. The key is
	// handed out within Ageing * p * (n + 1) runs. With groups, n also counts keys of other groups
	// that go first, even later ones. Let i keys of its own group be before it, and let w be the
	// weight of its group. Let at most g groups have keys at its priority, with a weight of at most
	// W. Then n is at most i + (i/w + 1) * (g - 1) * W, where i/w is rounded down. If the key's
	// priority is raised, the bound counts from that moment. Defaults to 16; at 1, all priorities
	// take turns; negative disables it.
	Ageing int

	// Group returns the group of a key, such as its namespace. Groups of the same priority are
	// served in turn. So a group that adds thousands of keys does not delay the few keys of another
	// group. Group is called for every add, without a lock, and must always return the same group
	// for a key. A panic is logged and counted, and the group of the key is then "". Defaults to
	// nil: one group.
	Group func(key K) string

	// Weight returns how many keys a group gets in a row. A result below one counts as one, and so
	// does a panic. Defaults to nil: every group has weight one.
	Weight func(group string) int

	// DrainTimeout is how long the workers of RunUntil may continue with queued keys after its stop
	// has ended. Negative means no limit. The option does not apply to Run, which has no drain.
	// Defaults to 30 s.
	DrainTimeout time.Duration

	// Timed keeps two times for each key: when the key became ready, and when a worker got it.
	// Stats, Inspect and Item report them. A queue that has an Observer, or has had a Run, always
	// keeps them. Otherwise a run does not read the clock, which would be a third of its cost.
	// Defaults to false.
	Timed bool

	// Observer receives each event in the queue. The Observer must not be changed after New.
	// Defaults to nil.
	Observer *Observer[K]

	// Logger receives the failures of Run, with Name, because Run has no caller to return them to.
	// A key that begins to fail or is dropped gets a warning, or an error with the stack if it
	// panicked. There are at most ten of these lines within five minutes. Another line every five
	// minutes counts the remaining failures. At debug level each failure has a line. Defaults to
	// the value of slog.Default() at New; slog.New(slog.DiscardHandler) logs nothing.
	Logger *slog.Logger
}

// AddOptions says how a key is added. With the zero value, AddWith is Add.
type AddOptions struct {
	// Priority orders the ready keys: higher priorities are handed out first, and Options.Ageing
	// keeps lower priorities from starving. If a key is added several times before its run, the
	// highest priority counts. A key whose priority is raised goes behind the keys that are ready
	// at the new priority. Use few different priorities at a time, dozens and not thousands.
	// Defaults to 0; LowPriority is for work without urgency.
	Priority int

	// After is how long to wait until the key is added; zero or negative means at once. A key has
	// at most one delay.
	After time.Duration

	// Delay decides which time applies if the key already has a delay. Defaults to Earliest.
	Delay DelayMode

	// Cause says why the key is added, in few words and from a small set, such as "secret changed".
	// See Causes. Defaults to "": no cause.
	Cause string
}

// LowPriority is a priority for work without urgency: the keys of the initial list and of a resync.
const LowPriority = -100

// withDefaults returns the options with defaults for zero fields.
func (o Options[K]) withDefaults() Options[K] {
	if o.RateLimiter == nil {
		o.RateLimiter = DefaultRateLimiter[K]()
	}
	o.Ageing = cmp.Or(o.Ageing, 16)
	o.DrainTimeout = cmp.Or(o.DrainTimeout, 30*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o
}
