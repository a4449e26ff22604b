package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/watchlist"

	"github.com/kinform/kinform/listwatch"
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

// Reflector keeps a store in step with a server: it lists, then watches, and goes on after each failure. It is kinform's
// reflector, with what docs/differences.md says under "Listing and watching"; above all, a lost watch is followed by a
// watch rather than by a list.
type Reflector struct {
	// WatchListPageSize is the size of the pages of lists. 0 leaves it to the reflector. To be set before the run.
	WatchListPageSize int64
	// ShouldResync is asked in each resync period whether the store's Resync is called. nil means always. To be set
	// before the run.
	ShouldResync func() bool
	// MaxInternalErrorRetryDuration is there for programs that set it. A watch that failed is followed by a watch
	// anyway.
	MaxInternalErrorRetryDuration time.Duration

	name         string
	about        string
	logger       klog.Logger
	lw           ListerWatcherWithContext
	store        ReflectorStore
	expectedType reflect.Type
	expectedGVK  *schema.GroupVersionKind
	resyncPeriod time.Duration
	options      core.Options
	onError      WatchErrorHandlerWithContext
	restart      wait.DelayFunc // the wait after a panic
	version      atomic.Pointer[string]
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
	// Clock is there for programs that set it. Tests of time use testing/synctest.
	Clock clock.Clock
	// Backoff are the waits after failures. Defaults to 0.8 s, twice as long each time, up to 30 s.
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
		onError: DefaultWatchErrorHandler, restart: restartDelay(options.Backoff),
	}
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
	r.options = core.Options{
		WatchTimeout: max(options.MinWatchTimeout, 5*time.Minute),
		Backoff:      backoff(options.Backoff),
		// A server may be long about a list, and so may a program's own function.
		ListProgressTimeout: 10 * time.Minute,
		ListMode:            core.List,
		Logger:              discard, // the error handler has the say
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

// restartDelay returns the waits after panics: those of client-go after failures (RC-3).
func restartDelay(b *wait.Backoff) wait.DelayFunc {
	if b == nil {
		b = &wait.Backoff{Duration: 800 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 38, Cap: 30 * time.Second}
	}
	return b.DelayWithReset(clock.RealClock{}, 2*time.Minute)
}

func backoff(b *wait.Backoff) core.Backoff {
	if b == nil {
		return core.Backoff{}
	}
	c := core.Backoff{Base: b.Duration, Max: b.Cap, Factor: max(b.Factor, 1), Jitter: b.Jitter}
	if c.Jitter == 0 {
		c.Jitter = -1 // none
	}
	if c.Max < c.Base {
		c.Max = max(c.Base, 30*time.Second)
	}
	return c
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

// RunWithContext lists and watches until the context ends. Each failed attempt is told to the error handler. After a
// panic of a function or a store of the program, if it does not end the process, the reflector waits as after a failed
// attempt, and then lists.
func (r *Reflector) RunWithContext(ctx context.Context) {
	r.logger.V(3).Info("Starting reflector", "type", r.about, "resyncPeriod", r.resyncPeriod)
	defer r.logger.V(3).Info("Stopping reflector", "type", r.about)
	keepOn(ctx, r.pause(ctx), func() {
		err := r.run(ctx, func(e core.Error) { r.onError(klog.NewContext(ctx, r.logger), r, r.explain(e)) })
		if err != nil {
			utilruntime.HandleErrorWithContext(ctx, err, "Reflector ended", "reflector", r.name)
		}
	})
}

// keepRunning is RunWithContext in a goroutine of this package.
func (r *Reflector) keepRunning(ctx context.Context) {
	keepOnOwn(ctx, r.pause(ctx), func() { r.RunWithContext(ctx) })
}

// pause is the pause after a panic.
func (r *Reflector) pause(ctx context.Context) func() bool { return pauseFor(ctx, r.restart) }

// ListAndWatch is ListAndWatchWithContext with a channel.
func (r *Reflector) ListAndWatch(stopCh <-chan struct{}) error {
	return r.ListAndWatchWithContext(wait.ContextForChannel(stopCh))
}

// ListAndWatchWithContext lists and watches until the first failure, or until the context ends. The error is that of
// the list, or of the request for a watch; a watch that ends later is no error.
func (r *Reflector) ListAndWatchWithContext(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	err := r.run(ctx, func(e core.Error) {
		if failed == nil && ctx.Err() == nil && e.Phase != core.Watching {
			failed = r.explain(e)
		}
		cancel()
	})
	return errors.Join(failed, err)
}

// explain names what has failed.
func (r *Reflector) explain(e core.Error) error {
	if plain, ok := errors.AsType[*plainError](e.Err); ok {
		e.Err = plain.err
	}
	if e.Phase == core.Listing || e.Phase == core.Streaming {
		return fmt.Errorf("failed to list %s: %w", r.about, e.Err)
	}
	if errors.Is(e.Err, core.ErrVeryShortWatch) {
		return &VeryShortWatchError{Name: r.name}
	}
	return fmt.Errorf("failed to watch %s: %w", r.about, e.Err)
}

// run runs kinform's reflector. onError is called for each failed attempt, by the goroutine of run.
func (r *Reflector) run(ctx context.Context, onError func(core.Error)) error {
	metrics := newReflectorMetrics(reflectorMetricsProvider(), r.name)
	opts := r.options
	if r.WatchListPageSize != 0 {
		opts.PageSize = r.WatchListPageSize
	}
	if usesWatchList(r.lw) {
		opts.ListMode = core.WatchList
	}
	// A program's own functions, and fakes, are called as often as client-go calls them. A fake sends no bookmarks: its
	// silence means nothing.
	fake := watchlist.DoesClientNotSupportWatchListSemantics(r.lw)
	opts.SkipComparison = fake || !streams(r.lw, r.expectedType)
	// Nor do their versions have to mean anything: a test gives its objects those that it likes, and a watch may be put
	// together from several. A store is told of every event.
	opts.AnyOrder, opts.AllowTimeTravel = opts.SkipComparison, opts.SkipComparison
	if fake {
		opts.WatchIdleTimeout = -1
	}
	opts.OnError = func(e core.Error) {
		// An expired version is followed by another list at once, and nobody is told (RC-5).
		again := (e.Phase == core.Listing || e.Phase == core.Streaming) && e.RetryIn == 0 && !e.Final
		// That an object could not be read fails no attempt, and is told: the store has an older state of it, or none.
		_, unread := errors.AsType[*listwatch.ObjectError](e.Err)
		if (e.Failures > 0 || unread) && !again && ctx.Err() == nil {
			onError(e)
		}
	}
	from := &source{lw: r.lw, about: r.about, expectedType: r.expectedType, expectedGVK: r.expectedGVK, metrics: metrics, store: r.store}
	to := &storeSink{reflector: r, store: r.store, metrics: metrics, ctx: ctx, from: from}
	to.bookmarks, _ = r.store.(ReflectorBookmarkStore)
	to.versions, _ = r.store.(ResourceVersionUpdater)
	to.native, _ = r.store.(nativeStore)
	inner, err := core.New[any](from, to, opts)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var resyncs sync.WaitGroup
	defer resyncs.Wait()
	defer from.close() // core leaves a watch open after a panic
	defer cancel()
	if r.resyncPeriod > 0 {
		resyncs.Go(func() { keepOnOwn(ctx, pauseFor(ctx, afterCrash), func() { r.resync(ctx, inner) }) })
	}
	return inner.Run(ctx)
}

// resync calls the store's Resync in each period in which a watch is open. The timer is not that of a watch: it
// survives relists (D22). A period begins when the Resync before has returned, so that none is shorter, by whatever a
// timer is late: a handler whose time is not quite over would have to wait for another one.
func (r *Reflector) resync(ctx context.Context, inner *core.Reflector[any]) {
	timer := time.NewTimer(r.resyncPeriod)
	defer timer.Stop()
	for ; ; timer.Reset(r.resyncPeriod) {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if r.LastSyncResourceVersion() == "" && inner.Status().Phase != core.Watching {
			continue
		}
		if r.ShouldResync != nil && !r.ShouldResync() {
			continue
		}
		if err := r.store.Resync(); err != nil && ctx.Err() == nil {
			utilruntime.HandleErrorWithContext(ctx, err, "Resync failed", "reflector", r.name)
		}
	}
}

// usesWatchList says whether lists are streaming lists: where the feature WatchListClient is on, and the client doesn't
// say that it has none.
func usesWatchList(lw any) bool {
	return watchListEnabled() && !watchlist.DoesClientNotSupportWatchListSemantics(lw)
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
	case err == io.EOF:
	case errors.Is(err, io.ErrUnexpectedEOF):
		logger.V(1).Info("Watch closed with unexpected EOF", "reflector", r.name, "type", r.about, "err", err)
	default:
		utilruntime.HandleErrorWithContext(ctx, err, "Failed to watch", "reflector", r.name, "type", r.about)
	}
}
