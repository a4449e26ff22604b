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

// ReflectorBookmarkStore is a ReflectorStore that receives the versions of bookmarks.
type ReflectorBookmarkStore interface {
	Bookmark(resourceVersion string) error
}

// TransformingStore is a ReflectorStore that changes objects before it stores them.
type TransformingStore interface {
	ReflectorStore
	Transformer() TransformFunc
}

// ResourceVersionUpdater is a ReflectorStore that receives the version of each watch event.
type ResourceVersionUpdater interface {
	// UpdateResourceVersion is called after the store has received the event.
	UpdateResourceVersion(resourceVersion string)
}

// WatchErrorHandler is called for each failed attempt to list or watch. It must return soon.
type WatchErrorHandler func(r *Reflector, err error)

// WatchErrorHandlerWithContext is WatchErrorHandler with the context of the run.
type WatchErrorHandlerWithContext func(ctx context.Context, r *Reflector, err error)

// Reflector keeps a store in step with a server. It lists, then watches, and retries after each
// failure. It makes the same requests as client-go's reflector, in the same order and after the
// same waits. Kinform's code reads and decodes the streams, and enforces limits on them. README.md
// lists the differences from client-go.
type Reflector struct {
	// WatchListPageSize is the page size of lists. 0 means that the reflector chooses. Set it
	// before the run.
	WatchListPageSize int64
	// ShouldResync decides, in each resync period, whether the store's Resync is called. nil means
	// always. Set it before the run.
	ShouldResync func() bool
	// MaxInternalErrorRetryDuration applies when internal errors (500) end watches. For this long,
	// the reflector opens another watch; after that, it lists. Set it before the run. Defaults to
	// 0: the reflector lists at once.
	MaxInternalErrorRetryDuration time.Duration

	name         string
	description  string
	logger       klog.Logger
	lw           ListerWatcherWithContext
	store        ReflectorStore
	expectedType reflect.Type
	expectedGVK  *schema.GroupVersionKind
	resyncPeriod time.Duration
	watchTimeout time.Duration // the shortest duration of a watch
	delay        wait.DelayFunc
	clock        clock.Clock
	onError      WatchErrorHandlerWithContext
	version      atomic.Pointer[string] // nil before the first list

	// The following fields belong to the goroutine that lists and watches.

	paged              bool // the server returns pages even from its cache
	unavailable        bool // the server no longer has the last version, or does not have it yet
	undecodableUnnamed bool // the name of an undecodable object is unknown
}

// ReflectorOptions are the options of a [Reflector].
type ReflectorOptions struct {
	// Logger defaults to klog.Background().
	Logger *klog.Logger
	// Name defaults to the file and line that create the reflector.
	Name string
	// TypeDescription names the objects in logs. Defaults to the expected type.
	TypeDescription string
	// ResyncPeriod is the time between two calls of the store's Resync. Defaults to 0: never.
	ResyncPeriod time.Duration
	// MinWatchTimeout is the shortest duration of a watch. The minimum and default is 5 minutes.
	MinWatchTimeout time.Duration
	// Clock measures the waits before a watch is reopened, the resync periods, and the time after
	// which Backoff starts anew. Defaults to the real clock.
	Clock clock.Clock
	// Backoff determines the waits after failures and between two lists. It starts anew every two
	// minutes. By default, it starts at 0.8 s and doubles up to 30 s. Random jitter adds up to 100
	// %.
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

// NewNamespaceKeyedIndexerAndReflector returns a reflector and the indexer that it fills, with an
// index by namespace.
func NewNamespaceKeyedIndexerAndReflector(lw ListerWatcher, expectedType interface{}, resyncPeriod time.Duration) (indexer Indexer, reflector *Reflector) {
	indexer = NewIndexer(MetaNamespaceKeyFunc, Indexers{NamespaceIndex: MetaNamespaceIndexFunc})
	return indexer, NewReflector(lw, expectedType, indexer, resyncPeriod)
}

// NewReflectorWithOptions returns a reflector, which does nothing before Run. expectedType is an
// example of the objects. Events with objects of other types are skipped. If expectedType is nil,
// all types are accepted. If it is an *unstructured.Unstructured with apiVersion and kind, only
// objects of that kind are accepted.
func NewReflectorWithOptions(lw ListerWatcher, expectedType interface{}, store ReflectorStore, options ReflectorOptions) *Reflector {
	r := &Reflector{
		name: options.Name, description: options.TypeDescription, logger: klog.Background(),
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
	if r.description == "" {
		r.description = describe(expectedType, r.expectedGVK)
	}
	return r
}

// describe returns the name of the expected type for logs (RC-35).
func describe(expectedType any, gvk *schema.GroupVersionKind) string {
	switch {
	case expectedType == nil:
		return "<unspecified>"
	case gvk != nil:
		return gvk.String()
	}
	return reflect.TypeOf(expectedType).String()
}

// defaultBackoff returns the waits of RC-3.
func defaultBackoff() *wait.Backoff {
	const first, longest = 800 * time.Millisecond, 30 * time.Second
	return &wait.Backoff{Duration: first, Cap: longest, Steps: int(math.Ceil(float64(longest) / float64(first))), Factor: 2, Jitter: 1}
}

// Name returns the name.
func (r *Reflector) Name() string { return r.name }

// TypeDescription returns the name of the expected type for logs.
func (r *Reflector) TypeDescription() string { return r.description }

// LastSyncResourceVersion returns the version of the last list or event that the store received. It
// is "" before the first list.
func (r *Reflector) LastSyncResourceVersion() string {
	if v := r.version.Load(); v != nil {
		return *v
	}
	return ""
}

// Run is RunWithContext with a stop channel in place of a context.
func (r *Reflector) Run(stopCh <-chan struct{}) { r.RunWithContext(wait.ContextForChannel(stopCh)) }

// RunWithContext lists and watches until the context ends. It calls the error handler with each
// error that ListAndWatchWithContext would return. A panic of the program's functions, its store or
// the error handler goes to HandleCrash. If HandleCrash returns, RunWithContext continues.
func (r *Reflector) RunWithContext(ctx context.Context) {
	r.logger.V(3).Info("Starting reflector", "type", r.description, "resyncPeriod", r.resyncPeriod)
	defer r.logger.V(3).Info("Stopping reflector", "type", r.description)
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

// keepRunning is like RunWithContext, for a goroutine of this package. It does not let a panic or a
// runtime.Goexit end the run.
func (r *Reflector) keepRunning(ctx context.Context) {
	retryAfterGoexit(ctx, pauseFor(ctx, r.delay), func() { r.RunWithContext(ctx) })
}

// ListAndWatch is ListAndWatchWithContext with a stop channel in place of a context.
func (r *Reflector) ListAndWatch(stopCh <-chan struct{}) error {
	return r.ListAndWatchWithContext(wait.ContextForChannel(stopCh))
}

// ListAndWatchWithContext lists, then watches, until another list is needed or the context ends. It
// returns an error if the list fails or a watch cannot be opened. After an orderly end of a watch
// it opens the next watch. If the server is busy (429) or refuses the connection, it waits first.
// An error that ends an open watch is logged, and not returned. The next call lists from the last
// version.
func (r *Reflector) ListAndWatchWithContext(ctx context.Context) error {
	defer r.startResyncs(ctx)()
	return r.feed(ctx).listAndWatch(ctx)
}

// startResyncs starts a goroutine that calls the store's Resync in each resync period, beginning
// after the first list. The returned function ends that goroutine and waits for it.
func (r *Reflector) startResyncs(ctx context.Context) (stop func()) {
	if r.resyncPeriod <= 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { retryAfterPanicOrGoexit(ctx, pauseFor(ctx, crashPauseLength), func() { r.resync(ctx) }) })
	return func() {
		cancel()
		running.Wait()
	}
}

// resync calls the store's Resync in each resync period. A period begins when the last Resync has
// returned, so that a late timer does not shorten the next period. If a period were shorter, a
// handler whose resync is due at its end would not be due yet, and would miss the resync. Lists do
// not restart the period (D22).
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

// VeryShortWatchError is the error of a watch that ended within a second without an event.
type VeryShortWatchError struct {
	// Name is the reflector's name.
	Name string
}

// Error returns a text with the reflector's name.
func (e *VeryShortWatchError) Error() string {
	return fmt.Sprintf("very short watch: %s: the watch ended within a second, and there was no event", e.Name)
}

// DefaultWatchErrorHandler logs the error. It logs an expired version at level 4, a stream that was
// cut off at level 1, and any other error as an error. It does not log the orderly end of a watch.
func DefaultWatchErrorHandler(ctx context.Context, r *Reflector, err error) {
	logger := klog.FromContext(ctx)
	switch {
	case core.IsExpired(err):
		logger.V(4).Info("Watch closed", "reflector", r.name, "type", r.description, "err", err)
	case err == io.EOF: //nolint:errorlint // the end of a watch, as client-go compares it
	case err == io.ErrUnexpectedEOF: //nolint:errorlint // as client-go does
		logger.V(1).Info("Watch closed with unexpected EOF", "reflector", r.name, "type", r.description, "err", err)
	default:
		utilruntime.HandleErrorWithContext(ctx, err, "Failed to watch", "reflector", r.name, "type", r.description)
	}
}
