package controller

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// Owns makes the controller reconcile the owner of an object when the object changes. The owner is
// the object's controlling owner (metav1.NewControllerRef). The function when says which events
// count; nil means all events. The kind of T must be known: for types that are not built-in, set
// rest.ResourceOptions.Kind.
//
// The owner is in the namespace of the owned object, or cluster-scoped, such as a Node. For a
// custom kind, the first cached owner shows the scope. Until then it keeps the keys of owners, and
// enqueues them when it knows the scope.
func Owns[T, O metav1.Object](c *Controller[T], owned *Client[O], when func(informer.Event[O]) bool) {
	if c.objects == nil || c.objects.cache == nil {
		return // The manager has recorded this error already.
	}
	kind := c.objects.kind
	if kind.Kind == "" {
		c.addWiringError(fmt.Errorf("Owns: the kind of %s is not known: set rest.ResourceOptions.Kind", kind.Group))
		return
	}
	scope := c.objects.scopeOfKind()
	handle(c, owned, func(q enqueue.Queue) func(informer.Event[O]) {
		return enqueue.Owner[O](ownerQueue{q, scope, &c.backlog}, kind)
	}, when)
}

// ownerQueue is a queue of owners. Its callers add the keys of owners with the namespaces of the
// owned objects.
type ownerQueue struct {
	enqueue.Queue
	scope   func() (namespaced, known bool)
	backlog *ownerBacklog
}

func (q ownerQueue) AddWith(key types.NamespacedName, opts workqueue.AddOptions) {
	namespaced, known := q.scope()
	if !known {
		q.backlog.add(key, func() { q.AddWith(key, opts) })
		if _, known := q.scope(); known { // The first owner was cached meanwhile.
			q.backlog.flush()
		}
		return
	}
	if !namespaced {
		key.Namespace = ""
	}
	q.Queue.AddWith(key, opts)
}

// ownerBacklog has the keys of owners whose scope is not known yet, at most maxOwnerBacklog. An
// owner whose key is not kept is enqueued when it is cached, unless Settings.When refuses its
// event.
type ownerBacklog struct {
	mu   sync.Mutex // guards following
	adds map[types.NamespacedName]func()
}

// maxOwnerBacklog limits the number of keys: short-lived owned objects may each name another owner
// that is never cached.
const maxOwnerBacklog = 100_000

func (e *ownerBacklog) add(key types.NamespacedName, add func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.adds == nil {
		e.adds = map[types.NamespacedName]func(){}
	}
	if _, known := e.adds[key]; known || len(e.adds) < maxOwnerBacklog {
		e.adds[key] = add
	}
}

// flush adds the keys to their queues, and forgets them.
func (e *ownerBacklog) flush() {
	e.mu.Lock()
	adds := e.adds
	e.adds = nil
	e.mu.Unlock()
	for _, add := range adds {
		add()
	}
}

// scopeOfKind returns a function that reports whether the Client's objects are namespaced: by the
// table of built-in kinds, or by the objects in the cache. It reads the cache at each call, because
// a definition with another scope may replace a custom resource's definition.
func (c *Client[T]) scopeOfKind() func() (namespaced, known bool) {
	if _, namespaced, ok := rest.Builtin(c.kind.WithVersion(c.server.GroupVersionResource().Version)); ok {
		return func() (bool, bool) { return namespaced, true }
	}
	// the last scope found in the cache, for use while the cache is empty
	var last atomic.Pointer[bool]
	return func() (namespaced, known bool) {
		for key := range c.store.All() {
			namespaced = key.Namespace != ""
			if before := last.Load(); before == nil || *before != namespaced {
				last.Store(&namespaced)
			}
			return namespaced, true
		}
		if before := last.Load(); before != nil {
			return *before, true
		}
		return false, false
	}
}

// References makes the controller reconcile an object when another object that it names changes,
// such as a Secret. The function named returns the keys that an object names. Its result must
// depend only on its argument. References adds an index to the cache of T, to find the objects that
// name a key. The argument index is the name of this index. The function when says which events
// count; nil means all events.
func References[T, O metav1.Object](c *Controller[T], referenced *Client[O], index string, named func(T) []types.NamespacedName, when func(informer.Event[O]) bool) {
	if c.objects == nil || c.objects.cache == nil {
		return // The manager has recorded this error already.
	}
	if named == nil || index == "" {
		c.addWiringError(fmt.Errorf("References needs the name of an index, and a function"))
		return
	}
	c.objects.AddIndex(index, func(object T) ([]string, error) {
		var values []string
		for _, key := range named(object) {
			values = append(values, key.String())
		}
		return values, nil
	})
	store := c.objects.store
	Watch(c, referenced, func(e informer.Event[O]) iter.Seq[types.NamespacedName] {
		return func(yield func(types.NamespacedName) bool) {
			naming, err := store.ByIndex(index, e.Key.String())
			if err != nil {
				return // The index does not exist, and Run has returned that error.
			}
			for key := range naming {
				if !yield(key) {
					return
				}
			}
		}
	}, when)
}

// Watch makes the controller reconcile objects when other objects change, including objects of
// another cluster. The function keys returns the keys to reconcile for an event. It runs in the
// goroutine of a handler, and should be quick. The function when says which events count; nil means
// all events.
func Watch[T, O metav1.Object](c *Controller[T], watched *Client[O], keys func(informer.Event[O]) iter.Seq[types.NamespacedName], when func(informer.Event[O]) bool) {
	if keys == nil {
		c.addWiringError(fmt.Errorf("Watch needs a function that returns keys"))
		return
	}
	handle(c, watched, func(q enqueue.Queue) func(informer.Event[O]) { return enqueue.Map(q, keys) }, when)
}

// Receive makes the controller reconcile the keys from a channel, until the channel is closed. It
// reads the channel while the controllers run. cause is the cause of these adds in the queue.
func (c *Controller[T]) Receive(keys <-chan types.NamespacedName, cause string) {
	c.manager.Add(c.controllerName+": keys from a channel: "+cause, func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case key, open := <-keys:
				if !open {
					return nil
				}
				c.queue.AddWith(key, workqueue.AddOptions{Cause: cause})
			}
		}
	}, PartOptions{Stage: Leading})
}
