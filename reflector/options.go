package reflector

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"
)

// ListMode says how a reflector gets its snapshots.
type ListMode uint8

const (
	// Auto leaves the choice to the reflector. At present it is List: compressed
	// and read from the server's cache, a plain list is faster and smaller on the
	// wire than a streaming one.
	Auto ListMode = iota
	// List asks for a list, in pages where that helps, then watches.
	List
	// WatchList asks for a streaming list (KEP-3157): one watch that begins with
	// everything that exists. It costs the server less memory than a list. Where
	// the server cannot do it, the reflector lists; see doc.go.
	WatchList
)

// String returns the name of the mode.
func (m ListMode) String() string {
	switch m {
	case Auto:
		return "Auto"
	case List:
		return "List"
	case WatchList:
		return "WatchList"
	default:
		return fmt.Sprintf("ListMode(%d)", uint8(m))
	}
}

// Options are a reflector's settings. The zero value is ready for use. Times that are
// set are 100 ms at least, and those of Backoff a millisecond: New refuses a number
// without its unit.
type Options struct {
	// ListMode says how snapshots are taken. Defaults to Auto.
	ListMode ListMode

	// PageSize is the number of objects that one page of a list may have.
	// Negative means that lists are never paged. Defaults to 500 for lists that
	// the server reads from its storage, and to no paging for those that it reads
	// from its cache (RC-7).
	PageSize int64

	// WatchTimeout is the shortest time after which the server is asked to end a
	// watch; each watch draws its own from [WatchTimeout, 2*WatchTimeout), so that
	// many clients don't come back at the same moment. A watch that is still open
	// five seconds later is closed by the reflector. Either way the next watch
	// starts at once where the last one ended. Defaults to 5 minutes; more than a year
	// is a year.
	WatchTimeout time.Duration

	// ListProgressTimeout is how long a list may be silent, from the request to its end.
	// For a streaming list it is how long no event may come that brings it nearer to its
	// end marker; changes of objects do not. After that time, the reflector reports
	// [ErrNoProgress]. It then tries a list again, and a streaming list never again: a
	// server that does not finish one does not finish the next. Defaults to 60 seconds,
	// which is how long an API server works on a list before it gives up by itself: with
	// a shorter time, the reflector would break off and repeat for ever a list that only
	// needed patience.
	ListProgressTimeout time.Duration

	// WatchIdleTimeout is how long a watch may be silent while the reflector waits for
	// it. Then the reflector takes the connection to be dead, although neither end
	// knows: it reports [ErrIdle], and starts the next watch at once where this watch
	// was; as it may be that nothing happened, this counts as no failure. Negative means
	// for ever. Defaults to 3 minutes: servers send a bookmark about once a minute where
	// nothing happens, so that three are missing. A server that sends none (as
	// kube-apiserver for events, which it does not cache) sees one more watch in that
	// time, and nothing is lost or listed again.
	WatchIdleTimeout time.Duration

	// Backoff says how long to wait after a failure.
	Backoff Backoff

	// GiveUpAfter is how many times in a row the server may say that the resource does
	// not exist (404), or that this client must not read it (403), or have a list that
	// is too large (listwatch.ErrListTooLarge), before Run gives up and returns that
	// error. Defaults to 0, never: somebody may yet install the definition or grant the
	// right, and meanwhile the reflector asks less and less often, see
	// [Backoff].PermanentMax.
	GiveUpAfter int

	// AllowTimeTravel accepts a snapshot that is older than the version that the sink
	// has been told. By default the reflector refuses such a snapshot with
	// [ErrTimeTravel], and asks again: it comes from a server that lags behind. A
	// cluster whose storage has been restored from a backup does not catch up: its
	// versions have gone back for good. So the reflector accepts a snapshot, and reports
	// ErrTimeTravel once more, where a comparison has found the server's most recent
	// version to be as old just before, or where six snapshots in a row are older, which
	// takes half a minute or so, and agree. With AllowTimeTravel, it accepts the first
	// one. It takes the snapshot as if it knew nothing; see [Restorer].
	AllowTimeTravel bool

	// SkipComparison leaves out the comparison after a watch was lost, which finds out
	// whether the server's history is still the history that the reflector knows: a list
	// of one object before the reflector reads the next watch, and one event that comes
	// again. Then a cluster that has been restored from a backup may go unnoticed, for
	// ever where its versions have passed the known ones. The reflector only counts and
	// logs an event that comes too late. Defaults to false. Where versions are no
	// numbers, the reflector compares nothing.
	SkipComparison bool

	// SkipUnreadable has the first snapshot handed over although there are objects in it
	// that cannot be read. By default that is a failed attempt, with an
	// [*UnreadableError], and the sink is told of nothing: a user who takes a missing
	// object for deleted would be deceived. Later snapshots and watches go on without
	// such objects either way, and Status.Unreadable has them; the sink keeps the state
	// that it has of them. Defaults to false.
	SkipUnreadable bool

	// OnError is told of every failed attempt, once, and of every object that
	// could not be read. It is called from Run's goroutine, without any lock held,
	// and delays the reflector while it runs. Defaults to nil.
	OnError func(Error)

	// Wake ends a wait early: whatever comes from it lets the next attempt begin at
	// once, where somebody knows that it is worth while, such as when a missing
	// CustomResourceDefinition has come. It is not read between waits, so a channel
	// with room for one is a note for the next of them. To close it ends one wait,
	// the running or the next one. Defaults to nil.
	Wake <-chan struct{}

	// Observer is told of every step of the reflector. Defaults to nil.
	Observer *Observer

	// Logger gets a warning when attempts begin to fail, when they fail with another
	// status, and every five minutes while they do; a line at info level when they
	// succeed again; and every single failure at debug level. It should say which
	// resource this is, as in logger.With("resource", "pods"). Defaults to
	// slog.Default(), as it is at New; slog.New(slog.DiscardHandler) is silence.
	Logger *slog.Logger
}

var (
	errListMode = errors.New("reflector: Options.ListMode is Auto, List or WatchList")
	errTimes    = errors.New("reflector: Options.WatchTimeout, ListProgressTimeout and GiveUpAfter must not be negative")
	errShort    = errors.New("reflector: Options.WatchTimeout, ListProgressTimeout and WatchIdleTimeout are durations, such as 5*time.Minute, of 100 ms at least")
)

// shortest is the least of the times of Options: less is a number without its unit, and
// no server answers as fast.
const shortest = 100 * time.Millisecond

// isShort says that one of some times is set, and shorter than least.
func isShort(least time.Duration, times ...time.Duration) bool {
	return slices.ContainsFunc(times, func(d time.Duration) bool { return 0 < d && d < least })
}

// validate returns an error that names the options which make no sense.
func (o Options) validate() error {
	switch {
	case o.ListMode > WatchList:
		return errListMode
	case o.WatchTimeout < 0 || o.ListProgressTimeout < 0 || o.GiveUpAfter < 0:
		return errTimes
	case isShort(shortest, o.WatchTimeout, o.ListProgressTimeout, o.WatchIdleTimeout):
		return errShort
	}
	return o.Backoff.Validate()
}

// withDefaults returns o with its defaults filled in.
func (o Options) withDefaults() Options {
	if o.ListMode == Auto {
		o.ListMode = List
	}
	if o.WatchTimeout == 0 {
		o.WatchTimeout = 5 * time.Minute
	}
	if o.ListProgressTimeout == 0 {
		o.ListProgressTimeout = 60 * time.Second
	}
	if o.WatchIdleTimeout == 0 {
		o.WatchIdleTimeout = 3 * time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Observer == nil {
		o.Observer = &Observer{}
	}
	o.Backoff = o.Backoff.withDefaults()
	return o
}

// longestWatch is half of the longest time for which the reflector asks a server to
// keep a watch open. Sums of such durations, and a server's seconds, are far from an
// overflow.
const longestWatch = 365 * 24 * time.Hour

// watchTimeout draws the timeout of one watch (RC-20).
func (o Options) watchTimeout() time.Duration {
	shortest := min(o.WatchTimeout, longestWatch)
	return shortest + rand.N(shortest)
}
