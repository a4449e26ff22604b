package reflector

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/kinform/kinform/internal/contain"
)

// ListMode says how a reflector gets its snapshots.
type ListMode uint8

const (
	// Auto leaves the choice to the reflector. At present it is List: a list is
	// compressed and comes from the server's cache, so that it is faster and smaller on
	// the wire than a streaming list.
	Auto ListMode = iota
	// List asks for a list, in pages where that helps, then watches.
	List
	// WatchList asks for a streaming list (KEP-3157): one watch that begins with all
	// existing objects. It costs the server less memory than a list. If the server has
	// no streaming lists, the reflector lists; see the package comment.
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

// Options are a reflector's settings. The zero value is ready for use. A time that is set
// must be at least 100 ms, and one of Backoff at least a millisecond: a shorter one is
// probably a number without its unit, and New returns an error for it.
type Options struct {
	// ListMode says how snapshots are taken. Defaults to Auto.
	ListMode ListMode

	// PageSize is the number of objects that one page of a list may have. Negative means
	// lists without pages. Defaults to 500 for lists that the server reads from its
	// storage, and to no pages for those that it reads from its cache (RC-7).
	PageSize int64

	// WatchTimeout is the shortest time after which the server is asked to end a watch.
	// Each watch draws its time from [WatchTimeout, 2*WatchTimeout), so that many clients
	// come back at different moments. The reflector closes a watch that is still open
	// five seconds later. Either way, the next watch starts at once from the version
	// where the last one ended. Defaults to 5 minutes; more than a year is a year.
	WatchTimeout time.Duration

	// ListProgressTimeout is how long a list may be silent, from the request to its end.
	// For a streaming list, it is the longest time between events that list existing
	// objects; changes of objects do not count. After that time, the reflector reports
	// [ErrNoProgress]. It then tries a list again, but never again a streaming list: a
	// server that does not finish one does not finish the next. Defaults to 60 seconds.
	// An API server works on a list for as long before it gives up by itself; with a
	// shorter time, the reflector would break off, again and again, a list that only
	// needs more time.
	ListProgressTimeout time.Duration

	// WatchIdleTimeout is how long a watch may be silent while the reflector waits for
	// it. After that time, the reflector takes the connection to be dead: it reports
	// [ErrIdle], and starts the next watch at once from the version where this one was.
	// That counts as no failure, because it may be that nothing has happened. Negative
	// means for ever. Defaults to 3 minutes: on a quiet watch, servers send a bookmark
	// about once a minute, so that three are missing then. (plain/reflector.go closes a
	// dead watch at the end of its time, after 5 to 10 minutes.) If a server sends no
	// bookmarks, as kube-apiserver for events, which it does not cache, it gets one watch
	// in each such time, and nothing is lost or listed again.
	WatchIdleTimeout time.Duration

	// Backoff says how long to wait after a failure.
	Backoff Backoff

	// GiveUpAfter is how many times in a row such a failure may come before Run gives up
	// and returns it: the resource does not exist (404), this client must not read it
	// (403), or the list is too large (listwatch.ErrListTooLarge). Defaults to 0, never:
	// somebody may yet install the definition or grant the right, and meanwhile the waits
	// grow; see [Backoff].PermanentMax.
	GiveUpAfter int

	// AllowTimeTravel accepts a snapshot that is older than the version that the sink has
	// been told. By default the reflector refuses such a snapshot with [ErrTimeTravel],
	// and asks again, because it may be from a server that lags behind.
	//
	// A cluster whose storage has been restored from a backup does not catch up: its
	// versions have gone back for good. So the reflector accepts an old snapshot in two
	// cases: a comparison has just found that the server's most recent version is as
	// old, or six snapshots in a row are older and agree, which takes half a minute or
	// so. It reports ErrTimeTravel then as well. With AllowTimeTravel, it accepts the
	// first one. It takes the snapshot as if it knew nothing; see [Restorer].
	AllowTimeTravel bool

	// SkipComparison leaves out the comparison after a watch was lost: a list of one object
	// before the next watch, and one event that comes again. The comparison finds out
	// whether the server's history is still the one that the reflector knows. Without it,
	// the reflector may not notice that a cluster has been restored from a backup; it
	// never does if the versions have passed the known ones. Defaults to false. If
	// versions are not numbers, the reflector compares nothing.
	SkipComparison bool

	// SkipUnreadable lets the reflector hand over a first snapshot that has objects which
	// cannot be read. By default that is a failed attempt, with an [*UnreadableError],
	// and the sink is told nothing: a user would take the missing objects for deleted.
	// Later snapshots and watches go on without such objects either way. The sink keeps
	// the states that it has of them, and Status.Unreadable has them. Defaults to false.
	SkipUnreadable bool

	// OnError is called once for every failed attempt, and for every object that could not
	// be read. Run's goroutine calls it, with no lock held. It delays the reflector until
	// it returns. Defaults to nil.
	OnError func(Error)

	// Wake ends a wait early: after a value, the next attempt begins at once. It is for
	// users who know that an attempt is worth while, because a missing
	// CustomResourceDefinition has come for example. The reflector reads it only while it
	// waits: with a buffer of one, a value ends the next wait. Closing it ends one wait,
	// the running or the next one. Defaults to nil.
	Wake <-chan struct{}

	// Observer has functions that the reflector calls at every step. Defaults to nil.
	Observer *Observer

	// Logger gets a warning when attempts begin to fail, when they fail with another
	// status, and every five minutes while they fail. It gets a line at info level when
	// they succeed again, and every single failure at debug level. It should name the
	// resource, as logger.With("resource", "pods") does. Defaults to the slog.Default()
	// of the time of New. slog.New(slog.DiscardHandler) drops all of it.
	Logger *slog.Logger
}

var (
	errListMode = errors.New("reflector: Options.ListMode is Auto, List or WatchList")
	errTimes    = errors.New("reflector: Options.WatchTimeout, ListProgressTimeout and GiveUpAfter must not be negative")
	errShort    = errors.New("reflector: Options.WatchTimeout, ListProgressTimeout and WatchIdleTimeout are durations, such as 5*time.Minute, of 100 ms at least")
)

// shortest is the least value of a time in Options. A shorter one is probably a number
// without its unit, and no server answers as fast.
const shortest = 100 * time.Millisecond

// isShort reports whether one of the times is set, and shorter than least.
func isShort(least time.Duration, times ...time.Duration) bool {
	return slices.ContainsFunc(times, func(d time.Duration) bool { return 0 < d && d < least })
}

// validate returns an error that names invalid options.
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
	o.Logger = contain.Logger(o.Logger)
	if o.Observer == nil {
		o.Observer = &Observer{}
	}
	o.Backoff = o.Backoff.withDefaults()
	return o
}

// longestWatch is half of the longest time for which the reflector asks a server to keep a
// watch open. Sums of such times do not overflow, nor do the server's seconds.
const longestWatch = 365 * 24 * time.Hour

// watchTimeout draws the timeout of one watch (RC-20).
func (o Options) watchTimeout() time.Duration {
	shortest := min(o.WatchTimeout, longestWatch)
	return shortest + rand.N(shortest)
}
