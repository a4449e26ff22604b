package cache

import (
	"context"
	"fmt"
	"io"
	"math"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	core "github.com/kinform/kinform/reflector"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// ReflectorBookmarkStore is a ReflectorStore that hears of the version of bookmarks.
type ReflectorBookmarkStore interface {
	Bookmark(resourceVersion string) error
}

// TransformingStore is a ReflectorStore that changes objects before it stores them.
type TransformingStore interface {
	ReflectorStore
	Transformer() TransformFunc
}

// ResourceVersionUpdater is a ReflectorStore that hears of the version of each event of a watch.
type ResourceVersionUpdater interface {
	// UpdateResourceVersion is called when the store has been told of the event.
	UpdateResourceVersion(resourceVersion string)
}

// WatchErrorHandler is told of each failed attempt to list or watch. It must return soon.
type WatchErrorHandler func(r *Reflector, err error)

// WatchErrorHandlerWithContext is WatchErrorHandler with the context of the run.
type WatchErrorHandlerWithContext func(ctx context.Context, r *Reflector, err error)

// Reflector keeps a store in step with a server: it lists, then watches, and goes on after each failure. It makes the
// requests that client-go's reflector makes, in the same order and after the same waits. The streams, their decoding and
// their budgets are kinform's. README.md lists the differences.
type Reflector struct {
	// WatchListPageSize is the size of the pages of lists. 0 leaves it to the reflector. To be set before the run.
	WatchListPageSize int64
	// ShouldResync is asked in each resync period whether the store's Resync is called. nil means always. To be set
	// before the run.
	ShouldResync func() bool
	// MaxInternalErrorRetryDuration is how long a watch that an internal error (500) has ended may be followed by a
	// watch, without a list in between. To be set before the run. Defaults to 0: a list follows.
	MaxInternalErrorRetryDuration time.Duration

	name         string
	about        string
	logger       klog.Logger
	lw           ListerWatcherWithContext
	store        ReflectorStore
	expectedType reflect.Type
	expectedGVK  *schema.GroupVersionKind
	resyncPeriod time.Duration
	watchTimeout time.Duration // the shortest one
	delay        wait.DelayFunc
	clock        clock.Clock
	onError      WatchErrorHandlerWithContext
	version      atomic.Pointer[string] // nil before the first list

	// The following fields belong to the goroutine that lists and watches.

	paged       bool // the server answers in pages even from its cache
	unavailable bool // the server does not have the last version
	nameless    bool // the name of an object could not be read
}

// ReflectorOptions are the choices of a [Reflector].
type ReflectorOptions struct {
	// Logger defaults to klog.Background().
	Logger *klog.Logger
	// Name defaults to the line of code that has made the reflector.
	Name string
	// TypeDescription says in logs what is listed. Defaults to the expected type.
	TypeDescription string
	// ResyncPeriod is the time between two calls of the store's Resync. Defaults to 0, never.
	ResyncPeriod time.Duration
	// MinWatchTimeout is the shortest time of a watch. Defaults to 5 minutes, which is the least.
	MinWatchTimeout time.Duration
	// Clock measures the waits before a watch is opened again, the periods of resyncs, and the time after which Backoff
	// begins anew. Defaults to the real clock.
	Clock clock.Clock
	// Backoff has the waits after failures, and between two lists. It begins anew every two minutes. Defaults to 0.8 s,
	// twice as long each time, up to 30 s, and all of it up to twice as long at random.
	Backoff *wait.Backoff
}

// NewReflector is NewReflectorWithOptions without a name.
func NewReflector(lw ListerWatcher, expectedType interface{}, store ReflectorStore, resyncPeriod time.Duration) *Reflector {
	return NewReflectorWithOptions(lw, expectedType, store, ReflectorOptions{ResyncPeriod: resyncPeriod})
}

// NewNamedReflector is NewReflectorWithOptions with a name.
func NewNamedReflector(name string, lw ListerWatcher, expectedType interface{}, store ReflectorStore, resyncPeriod time.Duration) *Reflector {
	return NewReflectorWithOptions(lw, expectedType, store, ReflectorOptions{Name: name, ResyncPeriod: resyncPeriod})
}

// NewNamespaceKeyedIndexerAndReflector returns a reflector and the indexer that it fills, with an index by namespace.
func NewNamespaceKeyedIndexerAndReflector(lw ListerWatcher, expectedType interface{}, resyncPeriod time.Duration) (indexer Indexer, reflector *Reflector) {
	indexer = NewIndexer(MetaNamespaceKeyFunc, Indexers{NamespaceIndex: MetaNamespaceIndexFunc})
	return indexer, NewReflector(lw, expectedType, indexer, resyncPeriod)
}

// NewReflectorWithOptions returns a reflector, which does nothing before Run. expectedType is an example of the objects:
// events with others are left out. nil means that there may be any; an *unstructured.Unstructured with apiVersion and
// kind says which of these.
func NewReflectorWithOptions(lw ListerWatcher, expectedType interface{}, store ReflectorStore, options ReflectorOptions) *Reflector {
	r := &Reflector{
		name: options.Name, about: options.TypeDescription, logger: klog.Background(),
		lw: ToListerWatcherWithContext(lw), store: store, resyncPeriod: options.ResyncPeriod,
		watchTimeout: max(options.MinWatchTimeout, 5*time.Minute),
		clock:        options.Clock, onError: DefaultWatchErrorHandler,
	}
	if r.clock == nil {
		r.clock = clock.RealClock{}
	}
	backoff := options.Backoff
	if backoff == nil {
		backoff = defaultBackoff()
	}
	r.delay = backoff.DelayWithReset(r.clock, 2*time.Minute)
	if options.Logger != nil {
		r.logger = *options.Logger
	}
	if r.name == "" {
		r.name = caller()
	}
	r.logger = klog.LoggerWithName(r.logger, r.name)
	if expectedType != nil {
		r.expectedType = reflect.TypeOf(expectedType)
		if u, ok := expectedType.(*unstructured.Unstructured); ok && u != nil {
			if gvk := u.GroupVersionKind(); !gvk.Empty() {
				r.expectedGVK = &gvk
			}
		}
	}
	if r.about == "" {
		r.about = describe(expectedType, r.expectedGVK)
	}
	return r
}

// describe says what is listed (RC-35).
func describe(expectedType any, gvk *schema.GroupVersionKind) string {
	switch {
	case expectedType == nil:
		return "<unspecified>"
	case gvk != nil:
		return gvk.String()
	}
	return reflect.TypeOf(expectedType).String()
}

// defaultBackoff has the waits of RC-3.
func defaultBackoff() *wait.Backoff {
	const first, longest = 800 * time.Millisecond, 30 * time.Second
	return &wait.Backoff{Duration: first, Cap: longest, Steps: int(math.Ceil(float64(longest) / float64(first))), Factor: 2, Jitter: 1}
}

// Name returns the name.
func (r *Reflector) Name() string { return r.name }

// TypeDescription says what is listed.
func (r *Reflector) TypeDescription() string { return r.about }

// LastSyncResourceVersion returns the version up to which the store has been told, "" before the first list.
func (r *Reflector) LastSyncResourceVersion() string {
	if v := r.version.Load(); v != nil {
		return *v
	}
	return ""
}

// Run is RunWithContext with a channel.
func (r *Reflector) Run(stopCh <-chan struct{}) { r.RunWithContext(wait.ContextForChannel(stopCh)) }

// RunWithContext lists and watches until the context ends. The error handler is called with each error that
// ListAndWatchWithContext would return. If the program goes on after panics, so does RunWithContext after a panic of the
// program's functions, of its store, or of the error handler.
func (r *Reflector) RunWithContext(ctx context.Context) {
	r.logger.V(3).Info("Starting reflector", "type", r.about, "resyncPeriod", r.resyncPeriod)
	defer r.logger.V(3).Info("Stopping reflector", "type", r.about)
	defer r.startResyncs(ctx)()
	var f *feed
	_ = r.delay.Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		if f == nil {
			f = r.feed(ctx)
		}
		if err := f.listAndWatch(ctx); err != nil {
			r.onError(klog.NewContext(ctx, r.logger), r, err)
		}
		return false, nil
	})
}

// keepRunning is RunWithContext, which contains panics, in a goroutine of this package.
func (r *Reflector) keepRunning(ctx context.Context) {
	outlive(ctx, pauseFor(ctx, r.delay), func() { r.RunWithContext(ctx) })
}

// ListAndWatch is ListAndWatchWithContext with a channel.
func (r *Reflector) ListAndWatch(stopCh <-chan struct{}) error {
	return r.ListAndWatchWithContext(wait.ContextForChannel(stopCh))
}

// ListAndWatchWithContext lists, then watches, until another list is needed or the context ends. It returns an error if
// the list fails, or if a watch cannot be opened. A watch that ends in order is followed by the next one; so is, after a
// wait, one that is refused because the server is busy (429) or cannot be reached. The error of a watch that had begun
// is logged, and not returned. The next call lists from the last version.
func (r *Reflector) ListAndWatchWithContext(ctx context.Context) error {
	defer r.startResyncs(ctx)()
	return r.feed(ctx).listAndWatch(ctx)
}

// startResyncs calls the store's Resync in each resync period, from the first list on, in a goroutine of its own. The
// returned function ends that goroutine and waits for it.
func (r *Reflector) startResyncs(ctx context.Context) (stop func()) {
	if r.resyncPeriod <= 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { keepOnOwn(ctx, pauseFor(ctx, afterCrash), func() { r.resync(ctx) }) })
	return func() {
		cancel()
		running.Wait()
	}
}

// resync calls the store's Resync in each resync period. A period begins when the Resync before has returned, so that
// none is shorter, however late a timer is: a handler whose time is not quite over would have to wait for another one.
// Lists do not begin it anew (D22).
func (r *Reflector) resync(ctx context.Context) {
	for {
		timer := r.clock.NewTimer(r.resyncPeriod)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C():
		}
		if r.version.Load() == nil || r.ShouldResync != nil && !r.ShouldResync() {
			continue
		}
		if err := r.store.Resync(); err != nil && ctx.Err() == nil {
			utilruntime.HandleErrorWithContext(ctx, err, "Resync failed", "reflector", r.name)
		}
	}
}

// VeryShortWatchError says that a watch has ended within a second, without an event.
type VeryShortWatchError struct {
	// Name is that of the reflector.
	Name string
}

// Error names the reflector.
func (e *VeryShortWatchError) Error() string {
	return fmt.Sprintf("very short watch: %s: the watch ended within a second, and there was no event", e.Name)
}

// DefaultWatchErrorHandler logs the error: at level 4 that a version has expired, at level 1 that a stream was cut off,
// and everything else as an error.
func DefaultWatchErrorHandler(ctx context.Context, r *Reflector, err error) {
	logger := klog.FromContext(ctx)
	switch {
	case core.IsExpired(err):
		logger.V(4).Info("Watch closed", "reflector", r.name, "type", r.about, "err", err)
	case err == io.EOF: //nolint:errorlint // the end of a watch, as client-go compares it
	case err == io.ErrUnexpectedEOF: //nolint:errorlint // likewise
		logger.V(1).Info("Watch closed with unexpected EOF", "reflector", r.name, "type", r.about, "err", err)
	default:
		utilruntime.HandleErrorWithContext(ctx, err, "Failed to watch", "reflector", r.name, "type", r.about)
	}
}
