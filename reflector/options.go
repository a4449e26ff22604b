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

// ListMode is how a reflector takes its snapshots.
type ListMode uint8

const (
	// Auto leaves the choice to the reflector. At present it means List. A list is compressed and
	// comes from the server's cache, so it is faster and smaller on the wire than a streaming list.
	Auto ListMode = iota
	// List requests a list, in pages when pages help, and then watches.
	List
	// WatchList requests a streaming list (KEP-3157): one watch that begins with all existing
	// objects. It costs the server less memory than a list. If the server does not support
	// streaming lists, the reflector lists; see the package comment.
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

// Options are a reflector's settings. The zero value is ready for use. A duration that is set must
// be at least 100 ms, or at least 1 ms in Backoff. New rejects a shorter duration, because it is
// probably a number without its unit.
type Options struct {
	// ListMode is how the reflector takes snapshots. Defaults to Auto.
	ListMode ListMode

	// PageSize is the number of objects that one page of a list may have. A negative size means
	// lists without pages. Defaults to 500 for lists that the server reads from its storage, and to
	// no pages for lists from its cache (RC-7).
	PageSize int64

	// WatchTimeout is the shortest time after which the reflector asks the server to end a watch.
	// Each watch draws its time from [WatchTimeout, 2*WatchTimeout), so that many clients reconnect
	// at different moments. If the watch is still open five seconds after its time, the reflector
	// closes it. In both cases, the next watch starts at once from the version at which the last
	// watch ended. Defaults to 5 minutes; the maximum is a year.
	WatchTimeout time.Duration

	// ListProgressTimeout is how long a list may take, from the request to its end. For a streaming
	// list, it is the longest time between events that list existing objects; changes of objects do
	// not count. After this time, the reflector reports [ErrNoProgress], and lists; it makes no
	// further streaming list. Defaults to 60 seconds, because an API server aborts a list after 60
	// seconds. A shorter time may abort every list of a slow server.
	ListProgressTimeout time.Duration

	// WatchIdleTimeout is how long a watch may be silent. After this time, the reflector treats the
	// connection as dead: it reports [ErrIdle], and starts the next watch at once from the same
	// version. This is not counted as a failure, because perhaps nothing has happened. A negative
	// time means no limit. Defaults to 3 minutes: a quiet watch gets about one bookmark a minute,
	// so three bookmarks are then missing. Some servers send no bookmarks: kube-apiserver sends
	// none for events, which it does not cache. The reflector replaces their quiet watches every 3
	// minutes, and neither loses nor lists anything.
	WatchIdleTimeout time.Duration

	// Backoff computes the wait after a failure. The zero value has defaults; see [Backoff].
	Backoff Backoff

	// GiveUpAfter is the number of consecutive permanent failures after which Run returns the
	// failure. Permanent failures are: the resource does not exist (404), this client must not read
	// it (403), or the list is too large (listwatch.ErrListTooLarge). Defaults to 0, which means
	// never: somebody may still install the CustomResourceDefinition or grant the permission.
	// Meanwhile the waits grow; see [Backoff].PermanentMax.
	GiveUpAfter int

	// AllowTimeTravel accepts a snapshot that is older than the sink's version, and treats it as
	// another history; see listwatch.Snapshot. By default the reflector refuses such a snapshot
	// with [ErrTimeTravel], and lists again, because the snapshot may come from a server that lags
	// behind.
	//
	// Even by default, the reflector accepts an old snapshot in two cases, and reports
	// ErrTimeTravel as well. First, a comparison has just found that the server's most recent
	// version is older than the sink's version. Second, six consecutive snapshots were outdated,
	// and their versions did not go down. This takes about half a minute.
	AllowTimeTravel bool

	// SkipComparison leaves out the comparison of histories after a lost watch. A comparison costs
	// a list of one object, and one event that comes twice. Without comparisons, the reflector may
	// not notice that a cluster was restored from a backup. It cannot notice this once the server's
	// versions have passed the known version. Defaults to false. If versions are not numbers, the
	// reflector never compares.
	SkipComparison bool

	// SkipUndecodable lets the reflector hand over a first snapshot that has undecodable objects.
	// By default such a snapshot is a failed attempt, with an [*UndecodableError]. The sink gets
	// nothing, because a user would treat the missing objects as deleted. Later snapshots and
	// watches always go on without these objects. The sink keeps its states of them, and
	// Status.Undecodable lists them. Defaults to false.
	SkipUndecodable bool

	// OnError is called once for every failed attempt, and for every undecodable object. Run's
	// goroutine calls OnError, with no lock held, and waits until it returns. Defaults to nil.
	OnError func(Error)

	// Wake ends a wait early: after a value, the next attempt starts at once. A program sends a
	// value when the next attempt will probably succeed, for example because a missing
	// CustomResourceDefinition now exists. The reflector receives only while it waits. With a
	// buffer of one, a value ends the next wait. Closing the channel ends one wait, the current or
	// the next one. Defaults to nil.
	Wake <-chan struct{}

	// Observer has the hooks that the reflector calls at every step. Defaults to nil.
	Observer *Observer

	// Logger gets a warning when attempts start to fail, when their HTTP status changes, and every
	// five minutes while they fail. It gets a line at info level when attempts succeed again, and
	// each failure at debug level. The logger should name the resource, for example by
	// logger.With("resource", "pods"). Defaults to the value of slog.Default() when New is called.
	// slog.New(slog.DiscardHandler) drops all lines.
	Logger *slog.Logger
}

var (
	errListMode = errors.New("reflector: Options.ListMode must be Auto, List or WatchList")
	errTimes    = errors.New("reflector: Options.WatchTimeout, ListProgressTimeout and GiveUpAfter must not be negative")
	errShort    = errors.New("reflector: Options.WatchTimeout, ListProgressTimeout and WatchIdleTimeout must be 0 or at least 100 ms, such as 5*time.Minute")
)

// shortest is the smallest duration that Options accept. A smaller one is probably a number without
// its unit.
const shortest = 100 * time.Millisecond

// isShort reports whether one of the times is set, and is shorter than the argument least.
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

// longestWatch limits WatchTimeout, so that sums of timeouts do not overflow, neither here nor in
// the server.
const longestWatch = 365 * 24 * time.Hour

// watchTimeout draws the timeout of one watch (RC-20).
func (o Options) watchTimeout() time.Duration {
	shortest := min(o.WatchTimeout, longestWatch)
	return shortest + rand.N(shortest)
}
