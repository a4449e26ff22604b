package controller

import (
	"context"
	"fmt"
	"runtime/pprof"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/informer/predicate"
	"github.com/kinform/kinform/workqueue"
)

// Settings are the choices of a [Controller]. The zero value is ready to use.
type Settings[T metav1.Object] struct {
	// Workers is how many objects are reconciled at once. Defaults to 1.
	Workers int

	// When says which events of T itself ask for a turn, such as
	// predicate.GenerationChanged[T]. Defaults to nil: all of them.
	When func(informer.Event[T]) bool

	// Deleted is called in place of the reconcile function when there is no object of that
	// key: it is gone, or never was. It is for what a controller has in memory. What is
	// outside the cluster needs a finalizer, as a deletion that happens while no controller
	// runs is told to nobody. Defaults to nil: nothing is done.
	Deleted func(ctx context.Context, key types.NamespacedName) error

	// Queue has the choices of the queue: rate limits, a least interval between the turns of
	// a key, fairness between groups, how long a drain may take. Its Name defaults to that of
	// the controller, its Logger to that of the manager.
	Queue workqueue.Options[types.NamespacedName]
}

// Controller keeps the world as the objects of type T want it: whenever one of them changes,
// or something that leads to it, its reconcile function is called. [Manage] makes one.
type Controller[T metav1.Object] struct {
	manager   *Manager
	called    string
	objects   *Client[T]
	reconcile func(context.Context, T) (Result, error)
	settings  Settings[T]
	queue     *workqueue.Queue[types.NamespacedName]
}

// Manage adds a controller to a manager. reconcile is called for one object of a key at a
// time, with the object as the cache has it, which must not be changed; and it is called
//
//   - for every object when the controller begins, and when an object changes;
//   - for what leads to the object: see [Owns], [References], [Watch] and Controller.Enqueue;
//   - as its Result asks for;
//   - after an error, later and later; see [Terminal]. A panic is an error with a stack.
//
// Its context ends when the manager may not work any more: when the lease is lost, at once,
// and when the process is asked to end, after Settings.Queue.DrainTimeout.
//
// An object that is in the cache only in an older state, as the newest one cannot be read, is
// not reconciled: that is an error, until it can be read.
//
// A mistake is an error of [Manager.Run]. name appears in logs, errors and profiles.
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
	c := &Controller[T]{manager: m, called: name, objects: objects, reconcile: reconcile, settings: settings, queue: workqueue.New(settings.Queue)}
	switch {
	case name == "":
		c.refuse(fmt.Errorf("a controller of %T needs a name", *new(T)))
	case reconcile == nil:
		c.refuse(fmt.Errorf("it needs a reconcile function"))
	case settings.Workers < 0:
		c.refuse(fmt.Errorf("Settings.Workers is %d: it must not be negative", settings.Workers))
	default:
		m.add(c)
	}
	handle(c, objects, enqueue.Object[T](c.queue), settings.When)
	return c
}

// handle adds a handler to the cache of a client, unless that could not be made, which is
// said already.
func handle[T, O metav1.Object](c *Controller[T], objects *Client[O], handler func(informer.Event[O]), when func(informer.Event[O]) bool) {
	if objects == nil {
		c.refuse(fmt.Errorf("it needs a Client of %T: see For", *new(O)))
		return
	}
	if objects.cache == nil {
		return
	}
	if when != nil {
		handler = predicate.When(when, handler)
	}
	_, err := objects.cache.AddHandler(handler, informer.HandlerOptions{Name: c.called})
	c.refuse(err)
}

func (c *Controller[T]) refuse(err error) {
	if err != nil {
		c.manager.refuse(fmt.Errorf("controller %q: %w", c.called, err))
	}
}

func (c *Controller[T]) name() string { return c.called }

// Enqueue asks for a turn of a key, for reasons that no cache knows of. It never blocks, and may
// be called before Run.
func (c *Controller[T]) Enqueue(key types.NamespacedName, how workqueue.AddOptions) {
	c.queue.AddWith(key, how)
}

// Queue returns the queue of the controller, for its Stats, Inspect and SetWorkers. The manager
// runs it.
func (c *Controller[T]) Queue() *workqueue.Queue[types.NamespacedName] { return c.queue }

// run works until ctx ends, at once, or until the queue is drained after the end of stop.
func (c *Controller[T]) run(ctx, stop context.Context) (err error) {
	// Goroutines inherit the labels of the one that starts them.
	pprof.Do(ctx, pprof.Labels("controller", c.called), func(ctx context.Context) {
		err = c.queue.RunUntil(ctx, stop, c.settings.Workers, c.turn)
	})
	return err
}

// turn is one turn of a key.
func (c *Controller[T]) turn(ctx context.Context, key types.NamespacedName) error {
	ctx = turn{c.queue, key}.begin(ctx)
	store := c.objects.cache.Store()
	// In this order: what becomes unreadable after the first question is still stored then.
	if err := store.Unreadable(key); err != nil {
		return fmt.Errorf("the newest state cannot be read: %w", err)
	}
	object, exists := store.Get(key)
	if exists {
		result, err := c.reconcile(ctx, object)
		return result.err(err)
	}
	if err := store.Unreadable(key); err != nil {
		return fmt.Errorf("the newest state cannot be read: %w", err)
	}
	if c.settings.Deleted == nil {
		return nil
	}
	return c.settings.Deleted(ctx, key)
}
