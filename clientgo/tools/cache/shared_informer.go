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

// SharedInformer keeps a store in step with a server and notifies any number of handlers of each
// change. When a handler is called, the store has the same change or a newer change. A
// SharedInformer runs once.
type SharedInformer interface {
	// AddEventHandler is AddEventHandlerWithOptions with the informer's own resync period.
	AddEventHandler(handler ResourceEventHandler) (ResourceEventHandlerRegistration, error)
	// AddEventHandlerWithResyncPeriod is AddEventHandlerWithOptions with a resync period.
	AddEventHandlerWithResyncPeriod(handler ResourceEventHandler, resyncPeriod time.Duration) (ResourceEventHandlerRegistration, error)
	// AddEventHandlerWithOptions adds a handler, before or after the start. The handler is called
	// from one goroutine, in the order of the changes. It does not wait for other handlers. The
	// number of its pending notifications has no bound. A handler that is added late first gets an
	// add for each object of the store. After the informer has stopped, AddEventHandlerWithOptions
	// returns an error.
	AddEventHandlerWithOptions(handler ResourceEventHandler, options HandlerOptions) (ResourceEventHandlerRegistration, error)
	// RemoveEventHandler removes a handler and drops its pending notifications. A call in progress
	// continues; [ShutDownEventHandler] waits for it. Removing a handler twice, or another
	// informer's handler, has no effect.
	RemoveEventHandler(handle ResourceEventHandlerRegistration) error
	// GetStore returns the store. The program may only read it.
	GetStore() Store
	// GetController returns a Controller, of which only HasSynced and LastSyncResourceVersion are
	// useful. Its Run does nothing.
	GetController() Controller
	// Run is RunWithContext with a stop channel in place of a context.
	Run(stopCh <-chan struct{})
	// RunWithContext runs until the context ends and all its goroutines and handler calls have
	// ended.
	RunWithContext(ctx context.Context)
	// HasSynced reports whether the store has the first list. The handlers may not have been
	// notified of it yet: see ResourceEventHandlerRegistration.
	HasSynced() bool
	// HasSyncedChecker returns HasSynced as a DoneChecker for [WaitFor].
	HasSyncedChecker() DoneChecker
	// LastSyncResourceVersion returns the version of the server's last event or list. It is ""
	// before the first list.
	LastSyncResourceVersion() string
	// SetWatchErrorHandler sets the function that is called when a list or a watch fails. After the
	// start it returns an error.
	SetWatchErrorHandler(handler WatchErrorHandler) error
	// SetWatchErrorHandlerWithContext is SetWatchErrorHandler with the context of the run.
	SetWatchErrorHandlerWithContext(handler WatchErrorHandlerWithContext) error
	// SetTransform sets the function that changes each object before it is stored. After the start
	// it returns an error.
	SetTransform(handler TransformFunc) error
	// IsStopped reports whether the informer has stopped. A stopped informer accepts no more
	// handlers.
	IsStopped() bool
}

// ResourceEventHandlerRegistration is the registration of a handler with an informer.
type ResourceEventHandlerRegistration interface {
	// HasSynced reports whether the handler has returned for each object of the initial list.
	HasSynced() bool
	// HasSyncedChecker returns HasSynced as a DoneChecker for [WaitFor].
	HasSyncedChecker() DoneChecker
}

// HandlerOptions are the options of a handler.
type HandlerOptions struct {
	// Logger logs messages about this handler, including its panics. Defaults to klog.Background().
	Logger *klog.Logger
	// ResyncPeriod is the time between two calls of OnUpdate for each object of the store. 0 means
	// never. Defaults to the informer's resync period.
	ResyncPeriod *time.Duration
}

// SharedIndexInformer is a SharedInformer whose store has indexes.
type SharedIndexInformer interface {
	SharedInformer
	// AddIndexers adds indexes. After the informer has stopped it returns an error.
	AddIndexers(indexers Indexers) error
	// GetIndexer returns the store. The program may only read it.
	GetIndexer() Indexer
}

// SharedIndexInformerOptions are the options of a SharedIndexInformer.
type SharedIndexInformerOptions struct {
	// ResyncPeriod is the resync period of handlers without a period of their own. Defaults to 0:
	// never.
	ResyncPeriod time.Duration
	// Indexers are the indexes. The informer owns the map.
	Indexers Indexers
	// ObjectDescription names the objects in logs. Defaults to the type of the example object.
	ObjectDescription string
	// Identifier names the informer in metrics. By default the informer has no metrics.
	Identifier InformerNameAndResource
	// InformerMetricsProvider defaults to the provider set by [SetInformerMetricsProvider].
	InformerMetricsProvider InformerMetricsProvider
}

// NewSharedInformer is NewSharedIndexInformer without indexes.
func NewSharedInformer(lw ListerWatcher, exampleObject runtime.Object, defaultEventHandlerResyncPeriod time.Duration) SharedInformer {
	return NewSharedIndexInformer(lw, exampleObject, defaultEventHandlerResyncPeriod, Indexers{})
}

// NewSharedIndexInformer is NewSharedIndexInformerWithOptions with a resync period and indexes.
func NewSharedIndexInformer(lw ListerWatcher, exampleObject runtime.Object, defaultEventHandlerResyncPeriod time.Duration, indexers Indexers) SharedIndexInformer {
	return NewSharedIndexInformerWithOptions(lw, exampleObject, SharedIndexInformerOptions{ResyncPeriod: defaultEventHandlerResyncPeriod, Indexers: indexers})
}

// NewSharedIndexInformerWithOptions returns an informer, which does nothing before Run.
// exampleObject has the type of the objects. Once per options.ResyncPeriod, the informer resyncs
// the handlers whose period is over. If a handler with a shorter period is added before the start,
// the informer does so once per that shorter period.
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
		lw:          lw,
		example:     exampleObject,
		description: about,
		synced:      make(chan struct{}),

		addRemoveLock: make(fairLock, 1), applyLock: make(fairLock, 1),
	}
	s.handlers.defaultPeriod, s.handlers.checkPeriod = options.ResyncPeriod, options.ResyncPeriod
	return s
}

// sharedIndexInformer applies the changes that its reflector receives. It changes the store, then
// puts the change into the mailbox of each handler. There is no queue between reflector and store.
// A mailbox has no bound, so no change waits for a handler. Each handler gets every change in the
// server's order. kinform's own informer merges pending changes and so makes fewer calls.
type sharedIndexInformer struct {
	applier
	lw          ListerWatcher
	example     runtime.Object
	description string

	// applyLock is held while a change is applied to the store and put into the mailboxes, and
	// while a handler is added or removed. So each handler gets each change once. The locking order
	// is addRemoveLock, applyLock, mu. A goroutine that adds or removes a handler holds
	// addRemoveLock too. So a change waits for at most one of these goroutines, however many there
	// are.
	addRemoveLock fairLock
	applyLock     fairLock
	synced        chan struct{} // closed when the first list is in the store
	isSynced      bool          // guarded by applyLock

	mu        sync.Mutex // guards following
	handlers  handlers
	started   bool
	stopped   bool
	run       context.Context // context of the handlers
	transform TransformFunc   // constant after the start
	onError   WatchErrorHandlerWithContext
	removed   []*listener // removed handlers whose last call may not have returned yet
	reflector *Reflector
}

// fairLock is a lock that goes to the goroutine that has waited longest. A sync.Mutex may go to
// newly arriving goroutines for up to a millisecond, while an earlier goroutine waits. With a
// sync.Mutex, each change could wait that long while handlers are added and removed.
type fairLock chan struct{}

func (h fairLock) Lock()   { h <- struct{}{} }
func (h fairLock) Unlock() { <-h }

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
	// Handlers end after the reflector (SI-3), so they have their own context.
	delivering, stopDelivering := context.WithCancel(context.WithoutCancel(ctx))
	defer stopDelivering()

	var running sync.WaitGroup
	defer running.Wait()
	s.mu.Lock()
	if s.started {
		s.mu.Unlock()
		logger.Info("Warning: the informer has started, run it once only", "type", s.description)
		return
	}
	s.started, s.run, s.applier.ctx = true, delivering, ctx
	s.reflector = NewReflectorWithOptions(s.lw, s.example, s, ReflectorOptions{
		Logger: &logger, TypeDescription: s.description, ResyncPeriod: s.handlers.checkPeriod,
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
	// With the mutation detector, objects share nothing mutable by default, so the guard is not
	// needed.
	if !mutationDetection {
		running.Go(func() { guard.Run(detecting.Done()) })
	}
	defer func() {
		stopDetecting()
		s.mu.Lock()
		s.stopped = true
		all := append(slices.Clone(s.handlers.all), s.removed...)
		s.mu.Unlock()
		stopDelivering()
		for _, h := range all {
			h.stop()
		}
		for _, h := range all {
			<-h.endedCh
		}
	}()
	// The reflector runs in a goroutine of its own, so that a function of the program cannot end
	// the goroutine of Run.
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
	return doneChecker{"SharedIndexInformer " + s.description, s.synced}
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

func (s *sharedIndexInformer) GetController() Controller { return noopController{s} }

// noopController is the Controller that GetController returns. Its Run does nothing, because Run of
// the informer does everything (SI-7).
type noopController struct{ informer *sharedIndexInformer }

func (c noopController) RunWithContext(context.Context)  {}
func (c noopController) Run(<-chan struct{})             {}
func (c noopController) HasSynced() bool                 { return c.informer.HasSynced() }
func (c noopController) HasSyncedChecker() DoneChecker   { return c.informer.HasSyncedChecker() }
func (c noopController) LastSyncResourceVersion() string { return c.informer.LastSyncResourceVersion() }
