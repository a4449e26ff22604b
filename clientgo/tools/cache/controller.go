package cache

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/features"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// ShouldResyncFunc reports whether the queue should be resynced now.
type ShouldResyncFunc func() bool

// ProcessFunc processes an item of a queue. isInInitialList is true for items of the first list.
type ProcessFunc func(obj interface{}, isInInitialList bool) error

// Config describes a [Controller]: a source, a queue, and a function that processes the queue's
// items.
type Config struct {
	// Queue receives the changes from the reflector, and Process gets its items. It is closed when
	// the run ends.
	Queue
	// ListerWatcher is the source.
	ListerWatcher
	// Process is called for each item of the queue, one call at a time.
	Process ProcessFunc
	// ProcessBatch, if set, replaces Process for a queue that is a QueueWithBatch.
	ProcessBatch ProcessBatchFunc
	// ObjectType is an example of the objects.
	ObjectType runtime.Object
	// ObjectDescription names the objects in logs. Defaults to their type.
	ObjectDescription string
	// FullResyncPeriod is the time between two calls of ShouldResync. Defaults to 0: never.
	FullResyncPeriod time.Duration
	// MinWatchTimeout is the field of the same name in [ReflectorOptions].
	MinWatchTimeout time.Duration
	// ShouldResync reports whether the queue should be resynced. Defaults to always.
	ShouldResync ShouldResyncFunc
	// WatchErrorHandler is called with the error of each failed attempt.
	WatchErrorHandler WatchErrorHandler
	// WatchErrorHandlerWithContext is used if WatchErrorHandler is nil. Defaults to
	// [DefaultWatchErrorHandler].
	WatchErrorHandlerWithContext WatchErrorHandlerWithContext
	// WatchListPageSize is the field of the same name in [Reflector].
	WatchListPageSize int64
}

// Controller feeds a queue from a source and processes the queue's items.
type Controller interface {
	// RunWithContext runs until the context ends. It may be called once.
	RunWithContext(ctx context.Context)
	// Run is RunWithContext with a stop channel in place of a context.
	Run(stopCh <-chan struct{})
	// HasSynced reports whether the first list has been processed.
	HasSynced() bool
	// HasSyncedChecker returns HasSynced as a DoneChecker for [WaitFor].
	HasSyncedChecker() DoneChecker
	// LastSyncResourceVersion returns the version of the server's last event or list. It is ""
	// before the first list.
	LastSyncResourceVersion() string
}

// New returns a Controller, which does nothing before Run. It copies c.
func New(c *Config) Controller { return &controller{config: *c} }

type controller struct {
	config    Config
	reflector atomic.Pointer[Reflector]
}

func (c *controller) Run(stopCh <-chan struct{}) { c.RunWithContext(wait.ContextForChannel(stopCh)) }

func (c *controller) RunWithContext(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	logger := klog.FromContext(ctx)
	r := NewReflectorWithOptions(c.config.ListerWatcher, c.config.ObjectType, c.config.Queue, ReflectorOptions{
		Logger:          &logger,
		ResyncPeriod:    c.config.FullResyncPeriod,
		MinWatchTimeout: c.config.MinWatchTimeout,
		TypeDescription: c.config.ObjectDescription,
	})
	r.ShouldResync = c.config.ShouldResync
	r.WatchListPageSize = c.config.WatchListPageSize
	if h := c.config.WatchErrorHandler; h != nil {
		r.onError = func(_ context.Context, r *Reflector, err error) { h(r, err) }
	} else if h := c.config.WatchErrorHandlerWithContext; h != nil {
		r.onError = h
	}
	c.reflector.Store(r)

	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel() // also if Process calls runtime.Goexit
	running.Go(func() { r.keepRunning(ctx) })
	running.Go(func() {
		<-ctx.Done()
		returnsWithoutPanic(ctx, c.config.Queue.Close)
	})
	retryAfterPanic(ctx, pauseFor(ctx, crashPauseLength), func() { c.process(ctx) })
}

// process passes the items of the queue to Process, until the context ends or the queue is closed
// and empty. It logs the errors of Process (D17).
func (c *controller) process(ctx context.Context) {
	batches, _ := c.config.Queue.(QueueWithBatch)
	if c.config.ProcessBatch == nil || !features.FeatureGates().Enabled(features.InOrderInformersBatchProcess) {
		batches = nil
	}
	for ctx.Err() == nil {
		var err error
		if batches != nil {
			err = batches.PopBatch(c.config.ProcessBatch, PopProcessFunc(c.config.Process))
		} else {
			_, err = c.config.Queue.Pop(PopProcessFunc(c.config.Process))
		}
		if errors.Is(err, ErrFIFOClosed) {
			return
		}
		if err != nil {
			utilruntime.HandleErrorWithContext(ctx, err, "A change could not be processed")
		}
	}
}

func (c *controller) HasSynced() bool               { return c.config.Queue.HasSynced() }
func (c *controller) HasSyncedChecker() DoneChecker { return c.config.Queue.HasSyncedChecker() }

func (c *controller) LastSyncResourceVersion() string {
	if r := c.reflector.Load(); r != nil {
		return r.LastSyncResourceVersion()
	}
	return ""
}
