package controller

import (
	"context"
	"fmt"
	"runtime/pprof"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/workqueue"
)

// Settings are the options of a [Controller]. The zero value is ready to use.
type Settings[T metav1.Object] struct {
	// Workers is the number of concurrent reconciles. Defaults to 1.
	Workers int

	// When reports whether an event of an object of T enqueues the object's key, such as
	// predicate.GenerationChanged[T]. Defaults to nil: all events do.
	When func(informer.Event[T]) bool

	// Deleted is called instead of the reconcile function if the key has no object: the object is
	// gone, or never existed. Use Deleted for state that the controller keeps in memory. Resources
	// outside the cluster need a finalizer, because a controller is not notified of deletions
	// before its start. Defaults to nil.
	Deleted func(ctx context.Context, key types.NamespacedName) error

	// Queue configures the queue: rate limits, a minimum interval between the reconciles of a key,
	// fairness between groups, the time limit of a drain. Its Name defaults to the controller's
	// name, and its Logger to the manager's.
	Queue workqueue.Options[types.NamespacedName]
}

// Controller calls its reconcile function for an object when the object changes, or when another
// object that maps to it changes. [Manage] makes a Controller.
type Controller[T metav1.Object] struct {
	manager        *Manager
	controllerName string
	objects        *Client[T]
	reconcile      func(context.Context, T) (Result, error)
	settings       Settings[T]
	queue          *workqueue.Queue[types.NamespacedName]
	writeWaits     writeWaits
	backlog        ownerBacklog

	// synced has a channel for each handler, which is closed when the handler has queued the keys
	// of the first list. deliveries has the delivery of each handler. The manager's lock guards
	// both slices.
	synced     []<-chan struct{}
	deliveries []anyDelivery
}

// anyDelivery is a delivery of any type.
type anyDelivery interface {
	run(ctx context.Context)
	end()
	undelivered() int
}

// Manage adds a controller to a manager. reconcile gets the object of the cache, which it must not
// change. For one key, calls never overlap. reconcile is called
//
//   - for every object when the controller begins, and when an object changes;
//   - for events that lead to the object: see [Owns], [References], [Watch] and
//     Controller.Enqueue;
//   - when its Result requests it;
//   - after an error, with back-off; see [Terminal]. A panic counts as an error with a stack.
//
// The context of a reconcile ends when the manager must stop working: at once when the lease is
// lost, and Settings.Queue.DrainTimeout after the context of Run has ended.
//
// If the newest state of an object cannot be decoded, the object is not reconciled, even if the
// cache has an older state. This counts as an error until the object can be decoded.
//
// A reconcile fails, and its key is retried, if it panics, calls runtime.Goexit, or returns an
// error that panics when it is examined. The same holds for all of the program's functions between
// an event and its keys, such as Settings.When. If one of these functions panics or calls
// runtime.Goexit, the failure is logged and counted (informer.HandlerStatus.Panics), and the
// function is called again with back-off. The function then gets the difference between the state
// before the first lost event and the state in the cache, as one event. See
// ControllerStatus.Undelivered.
//
// [Manager.Run] returns an error about invalid arguments. name appears in logs, errors and
// profiles.
func Manage[T metav1.Object](m *Manager, name string, objects *Client[T], reconcile func(ctx context.Context, object T) (Result, error), settings Settings[T]) *Controller[T] {
	if settings.Workers == 0 {
		settings.Workers = 1
	}
	if settings.Queue.Name == "" {
		settings.Queue.Name = name
	}
	if settings.Queue.Logger == nil {
		settings.Queue.Logger = m.opts.Logger
	}
	if o := m.opts.Observer; o != nil && o.Queue != nil {
		settings.Queue.Observer = o.Queue(name, settings.Queue.Observer)
	}
	c := &Controller[T]{manager: m, controllerName: name, objects: objects, reconcile: reconcile, settings: settings, queue: workqueue.New(settings.Queue)}
	c.writeWaits.controller, c.writeWaits.logger, c.writeWaits.hooks = name, m.opts.Logger, &m.hooks
	switch {
	case name == "":
		c.addWiringError(fmt.Errorf("a controller of %T needs a name", *new(T)))
	case reconcile == nil:
		c.addWiringError(fmt.Errorf("a reconcile function is required"))
	case settings.Workers < 0:
		c.addWiringError(fmt.Errorf("Settings.Workers is %d: it must not be negative", settings.Workers))
	default:
		m.add(c)
	}
	handle(c, objects, enqueue.Object[T], func(e informer.Event[T]) bool {
		c.backlog.flush() // An owner exists now.
		return settings.When == nil || settings.When(e)
	})
	return c
}

// handle adds a handler to the cache of a client. The handler adds keys to the controller's queue.
// If newClient could not make the cache, the manager has recorded the error already.
func handle[T, O metav1.Object](c *Controller[T], objects *Client[O], newHandler func(enqueue.Queue) func(informer.Event[O]), when func(informer.Event[O]) bool) {
	if objects == nil {
		c.addWiringError(fmt.Errorf("a Client of %T is required: see For", *new(O)))
		return
	}
	if objects.cache == nil {
		return
	}
	queue, event := c.manager.opts.Observer.observedQueue(c.controllerName, objects.cacheName, c.queue)
	handleEvent := newHandler(queue)
	delivery := newDelivery(workqueue.Options[types.NamespacedName]{
		Name: c.controllerName + ": lost events of " + objects.cacheName, Logger: c.manager.opts.Logger,
	}, objects.store, func(e informer.Event[O]) {
		if when != nil && !when(e) {
			return
		}
		if event != nil {
			c.manager.hooks.Call("Observer.Enqueue", func() { event(e.Key, e.ResourceVersion) })
		}
		handleEvent(e)
	})
	registration, err := objects.cache.AddHandler(delivery.deliver, informer.HandlerOptions{Name: c.controllerName})
	if err != nil {
		c.addWiringError(err)
		return
	}
	c.manager.mu.Lock()
	defer c.manager.mu.Unlock()
	c.synced = append(c.synced, registration.Synced())
	c.deliveries = append(slices.Clip(c.deliveries), delivery)
}

func (c *Controller[T]) addWiringError(err error) {
	if err != nil {
		c.manager.addWiringError(fmt.Errorf("controller %q: %w", c.controllerName, err))
	}
}

func (c *Controller[T]) name() string { return c.controllerName }

// Enqueue adds a key to the queue, for a reason outside of the caches. Enqueue never blocks, and
// may be called before Run.
func (c *Controller[T]) Enqueue(key types.NamespacedName, opts workqueue.AddOptions) {
	c.queue.AddWith(key, opts)
}

// Queue returns the queue of the controller, for its Stats, Inspect and SetWorkers. The manager
// runs it.
func (c *Controller[T]) Queue() *workqueue.Queue[types.NamespacedName] { return c.queue }

// run processes keys until ctx ends, or until the queue is drained after the context stop has
// ended.
func (c *Controller[T]) run(ctx, stop context.Context) (err error) {
	reconcile := c.reconcileKey
	if o := c.manager.opts.Observer; o != nil && o.Reconcile != nil {
		reconcile = o.Reconcile(c.controllerName, reconcile)
	}
	// Workers that start earlier would reconcile a key several times, once for each object that
	// maps to it.
	c.manager.mu.Lock()
	all, deliveries := c.synced, c.deliveries
	c.manager.mu.Unlock()
	var delivering sync.WaitGroup
	working, end := context.WithCancel(ctx)
	for _, d := range deliveries {
		delivering.Go(func() { d.run(working) })
	}
	defer delivering.Wait()
	defer end()
	for _, synced := range all {
		select {
		case <-synced:
		case <-ctx.Done():
		case <-stop.Done():
		}
	}
	// The workers inherit the labels of the goroutine that starts them.
	pprof.Do(ctx, pprof.Labels("controller", c.controllerName, "stage", "reconcile"), func(ctx context.Context) {
		err = c.queue.RunUntil(ctx, stop, c.settings.Workers, reconcile)
	})
	return err
}

// end shuts down the queues, with their timers. A controller that never led has not run its queues.
func (c *Controller[T]) end() {
	c.queue.ShutDown()
	for _, d := range c.deliveries { // No handler is added after Run began.
		d.end()
	}
}

// reconcileKey is one reconcile of a key.
func (c *Controller[T]) reconcileKey(ctx context.Context, key types.NamespacedName) error {
	ctx = reconcileContext{c.queue, key, &c.writeWaits}.attach(ctx)
	store := c.objects.store
	// The call of Undecodable comes before Get: if the object becomes undecodable in between, the
	// cache still has its older state.
	if err := store.Undecodable(key); err != nil {
		return fmt.Errorf("the newest state cannot be decoded: %w", err)
	}
	object, exists := store.Get(key)
	if exists {
		result, err := c.reconcile(ctx, object)
		return result.err(contain.SafeError(err)) // Observer.Reconcile may examine the error.
	}
	if err := store.Undecodable(key); err != nil {
		return fmt.Errorf("the newest state cannot be decoded: %w", err)
	}
	if c.settings.Deleted == nil {
		return nil
	}
	return contain.SafeError(c.settings.Deleted(ctx, key))
}
