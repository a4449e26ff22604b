package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/internal/guard"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// SharedInformer keeps a store in step with a server, and tells any number of handlers of each change. When a handler is
// told, the store has that change or a newer one. It runs once.
type SharedInformer interface {
	// AddEventHandler is AddEventHandlerWithOptions with the informer's own resync period.
	AddEventHandler(handler ResourceEventHandler) (ResourceEventHandlerRegistration, error)
	// AddEventHandlerWithResyncPeriod is AddEventHandlerWithOptions with a resync period.
	AddEventHandlerWithResyncPeriod(handler ResourceEventHandler, resyncPeriod time.Duration) (ResourceEventHandlerRegistration, error)
	// AddEventHandlerWithOptions adds a handler, before or after the start. It is called from one goroutine, in the order
	// of the changes, and never waits for another handler: what it has not been told yet is kept, without a bound. One
	// that is added late is first told of each object of the store. After the stop, it is an error.
	AddEventHandlerWithOptions(handler ResourceEventHandler, options HandlerOptions) (ResourceEventHandlerRegistration, error)
	// RemoveEventHandler ends a handler: what it has not been told yet is dropped, and a call in progress goes on. See
	// [ShutDownEventHandler] for one that waits. To remove one twice, or one of another informer, has no effect.
	RemoveEventHandler(handle ResourceEventHandlerRegistration) error
	// GetStore returns the store, to be read.
	GetStore() Store
	// GetController returns HasSynced and LastSyncResourceVersion as a Controller, whose Run does nothing.
	GetController() Controller
	// Run is RunWithContext with a channel.
	Run(stopCh <-chan struct{})
	// RunWithContext runs until the context ends and all of its goroutines have ended, calls of handlers included.
	RunWithContext(ctx context.Context)
	// HasSynced says whether the store has the first list. Handlers may still have to be told: see
	// ResourceEventHandlerRegistration.
	HasSynced() bool
	// HasSyncedChecker is HasSynced for [WaitFor].
	HasSyncedChecker() DoneChecker
	// LastSyncResourceVersion returns the version up to which the server has been heard, "" before the first list.
	LastSyncResourceVersion() string
	// SetWatchErrorHandler sets what is told of failed attempts, before the start; after it, it is an error.
	SetWatchErrorHandler(handler WatchErrorHandler) error
	// SetWatchErrorHandlerWithContext is SetWatchErrorHandler with the context of the run.
	SetWatchErrorHandlerWithContext(handler WatchErrorHandlerWithContext) error
	// SetTransform sets what changes each object before it is stored, before the start; after it, it is an error.
	SetTransform(handler TransformFunc) error
	// IsStopped says that the informer has run, and takes no handler any more.
	IsStopped() bool
}

// ResourceEventHandlerRegistration is a handler of an informer.
type ResourceEventHandlerRegistration interface {
	// HasSynced says whether the handler has returned from each object of the initial list.
	HasSynced() bool
	// HasSyncedChecker is HasSynced for [WaitFor].
	HasSyncedChecker() DoneChecker
}

// HandlerOptions are the choices of a handler.
type HandlerOptions struct {
	// Logger is for what is said of this handler, its panics included. Defaults to klog.Background().
	Logger *klog.Logger
	// ResyncPeriod is the time between two calls of OnUpdate for each object of the store. Defaults to that of the
	// informer; 0 means never.
	ResyncPeriod *time.Duration
}

// SharedIndexInformer is a SharedInformer whose store has indexes.
type SharedIndexInformer interface {
	SharedInformer
	// AddIndexers adds indexes, at any time before the stop.
	AddIndexers(indexers Indexers) error
	// GetIndexer returns the store, to be read.
	GetIndexer() Indexer
}

// SharedIndexInformerOptions are the choices of a SharedIndexInformer.
type SharedIndexInformerOptions struct {
	// ResyncPeriod is that of handlers that don't say otherwise. Defaults to 0, never.
	ResyncPeriod time.Duration
	// Indexers are the indexes. The map belongs to the informer.
	Indexers Indexers
	// ObjectDescription says in logs what the objects are. Defaults to the type of the example.
	ObjectDescription string
	// Identifier names the informer in metrics. Defaults to none, and no metrics.
	Identifier InformerNameAndResource
	// InformerMetricsProvider defaults to that of [SetInformerMetricsProvider].
	InformerMetricsProvider InformerMetricsProvider
}

// NewSharedInformer is NewSharedIndexInformer without indexes.
func NewSharedInformer(lw ListerWatcher, exampleObject runtime.Object, defaultEventHandlerResyncPeriod time.Duration) SharedInformer {
	return NewSharedIndexInformer(lw, exampleObject, defaultEventHandlerResyncPeriod, Indexers{})
}

// NewSharedIndexInformer is NewSharedIndexInformerWithOptions with two of the options.
func NewSharedIndexInformer(lw ListerWatcher, exampleObject runtime.Object, defaultEventHandlerResyncPeriod time.Duration, indexers Indexers) SharedIndexInformer {
	return NewSharedIndexInformerWithOptions(lw, exampleObject, SharedIndexInformerOptions{ResyncPeriod: defaultEventHandlerResyncPeriod, Indexers: indexers})
}

// NewSharedIndexInformerWithOptions returns an informer, which does nothing before Run. exampleObject says of which type
// the objects are. The informer checks for resyncs once in each options.ResyncPeriod; if a handler that is added before
// the start has a shorter period, once in each of these.
func NewSharedIndexInformerWithOptions(lw ListerWatcher, exampleObject runtime.Object, options SharedIndexInformerOptions) SharedIndexInformer {
	about := options.ObjectDescription
	if about == "" {
		about = fmt.Sprintf("%T", exampleObject)
	}
	s := &sharedIndexInformer{
		applier: applier{
			indexer:  NewIndexer(DeletionHandlingMetaNamespaceKeyFunc, options.Indexers),
			detector: NewCacheMutationDetector(fmt.Sprintf("%T", exampleObject)),
			metrics:  newInformerMetrics(options.InformerMetricsProvider, options.Identifier),
		},
		lw:      lw,
		example: exampleObject,
		about:   about,
		synced:  make(chan struct{}),

		joining: make(handover, 1), applying: make(handover, 1),
	}
	s.handlers.defaultPeriod, s.handlers.checkPeriod = options.ResyncPeriod, options.ResyncPeriod
	return s
}

// sharedIndexInformer applies what kinform's reflector hands over: it changes the store, then puts the change into the
// mailbox of each handler. There is no queue between. A mailbox has no bound, so nothing of that waits for a handler,
// and changes reach the handlers one by one, in the order in which the server has made them; kinform's own informer
// merges what waits, and tells less.
type sharedIndexInformer struct {
	applier
	lw      ListerWatcher
	example runtime.Object
	about   string

	// applying is held while a change is applied to the store and put into the mailboxes, and while a handler is added or
	// removed: so that each handler is told of each change once. It comes before mu. joining comes before it, and is held
	// by the handler that is added or removed: however many come and go, each change waits for one of them at most.
	joining  handover
	applying handover
	synced   chan struct{} // closed when the first list is in the store
	isSynced bool          // guarded by applying

	mu        sync.Mutex // guards following
	handlers  handlers
	started   bool
	stopped   bool
	run       context.Context // of the handlers
	transform TransformFunc   // constant from the start
	onError   WatchErrorHandlerWithContext
	leaving   []*listener // removed, and perhaps still in a call
	reflector *Reflector
}

// handover is a lock that goes to the goroutine that has waited longest. A sync.Mutex goes to whoever comes while that
// goroutine wakes up, for a millisecond: each change would wait as long while handlers come and go.
type handover chan struct{}

func (h handover) Lock()   { h <- struct{}{} }
func (h handover) Unlock() { <-h }

var errHasStarted = errors.New("informer has already started")

func (s *sharedIndexInformer) SetWatchErrorHandler(handler WatchErrorHandler) error {
	return s.SetWatchErrorHandlerWithContext(func(_ context.Context, r *Reflector, err error) { handler(r, err) })
}

func (s *sharedIndexInformer) SetWatchErrorHandlerWithContext(handler WatchErrorHandlerWithContext) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return errHasStarted
	}
	s.onError = handler
	return nil
}

func (s *sharedIndexInformer) SetTransform(handler TransformFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return errHasStarted
	}
	s.transform = handler
	return nil
}

func (s *sharedIndexInformer) Run(stopCh <-chan struct{}) {
	s.RunWithContext(wait.ContextForChannel(stopCh))
}

func (s *sharedIndexInformer) RunWithContext(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	logger := klog.FromContext(ctx)
	// Handlers end after the reflector (SI-3), by a context of their own.
	delivering, stopDelivering := context.WithCancel(context.WithoutCancel(ctx))
	defer stopDelivering()

	var running sync.WaitGroup
	defer running.Wait()
	s.mu.Lock()
	if s.started {
		s.mu.Unlock()
		logger.Info("Warning: the informer has started, run it once only", "type", s.about)
		return
	}
	s.started, s.run, s.applier.ctx = true, delivering, ctx
	s.reflector = NewReflectorWithOptions(s.lw, s.example, s, ReflectorOptions{
		Logger: &logger, TypeDescription: s.about, ResyncPeriod: s.handlers.checkPeriod,
	})
	s.reflector.ShouldResync = s.resyncDue
	if s.onError != nil {
		s.reflector.onError = s.onError
	}
	for _, h := range s.handlers.all {
		h.start(delivering)
	}
	reflector := s.reflector
	s.mu.Unlock()

	detecting, stopDetecting := context.WithCancel(context.WithoutCancel(ctx))
	running.Go(func() { s.detector.Run(detecting.Done()) })
	if !mutationDetection { // with the detector, objects share nothing that can be changed, unless the program says otherwise
		running.Go(func() { guard.Run(detecting.Done()) })
	}
	defer func() {
		stopDetecting()
		s.mu.Lock()
		s.stopped = true
		all := append(slices.Clone(s.handlers.all), s.leaving...)
		s.mu.Unlock()
		stopDelivering()
		for _, h := range all {
			h.stop()
		}
		for _, h := range all {
			<-h.ended
		}
	}()
	// A goroutine of its own, which no function of the program can end.
	var reflecting sync.WaitGroup
	reflecting.Go(func() { reflector.keepRunning(ctx) })
	reflecting.Wait()
}

func (s *sharedIndexInformer) HasStarted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started
}

func (s *sharedIndexInformer) IsStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

func (s *sharedIndexInformer) HasSynced() bool { return IsDone(s.HasSyncedChecker()) }

func (s *sharedIndexInformer) HasSyncedChecker() DoneChecker {
	return doneChecker{"SharedIndexInformer " + s.about, s.synced}
}

func (s *sharedIndexInformer) LastSyncResourceVersion() string {
	s.mu.Lock()
	reflector := s.reflector
	s.mu.Unlock()
	if reflector == nil {
		return ""
	}
	return reflector.LastSyncResourceVersion()
}

func (s *sharedIndexInformer) GetStore() Store     { return s.indexer }
func (s *sharedIndexInformer) GetIndexer() Indexer { return s.indexer }

func (s *sharedIndexInformer) AddIndexers(indexers Indexers) error {
	if s.IsStopped() {
		return errors.New("indexer was not added because it has stopped already")
	}
	return s.indexer.AddIndexers(indexers)
}

func (s *sharedIndexInformer) GetController() Controller { return standIn{s} }

// standIn is the Controller of an informer, which runs by itself (SI-7).
type standIn struct{ informer *sharedIndexInformer }

func (c standIn) RunWithContext(context.Context)  {}
func (c standIn) Run(<-chan struct{})             {}
func (c standIn) HasSynced() bool                 { return c.informer.HasSynced() }
func (c standIn) HasSyncedChecker() DoneChecker   { return c.informer.HasSyncedChecker() }
func (c standIn) LastSyncResourceVersion() string { return c.informer.LastSyncResourceVersion() }
