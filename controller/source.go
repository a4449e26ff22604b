package controller

import (
	"context"
	"fmt"
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/workqueue"
)

// Owns has the controller reconcile an object when something changes of which that is the
// controlling owner (metav1.NewControllerRef). when says which events count, nil all of them.
// The kind of T must be known: it is for built-in types, for others see
// rest.ResourceOptions.Kind. An owner without a namespace needs [Watch].
func Owns[T, O metav1.Object](c *Controller[T], owned *Client[O], when func(informer.Event[O]) bool) {
	if c.objects == nil || c.objects.cache == nil {
		return // That is said already.
	}
	kind := c.objects.kind
	if kind.Kind == "" {
		c.refuse(fmt.Errorf("Owns: the kind of %s is not known: set rest.ResourceOptions.Kind", kind.Group))
		return
	}
	handle(c, owned, enqueue.Owner[O](c.queue, kind), when)
}

// References has the controller reconcile an object when something changes that it names, such
// as a Secret. named returns what an object names; it must be a function of its argument alone,
// for it makes an index of the cache: which objects name this one? The index is called like
// the argument index. when says which events count, nil all of them.
func References[T, O metav1.Object](c *Controller[T], referenced *Client[O], index string, named func(T) []types.NamespacedName, when func(informer.Event[O]) bool) {
	if c.objects == nil || c.objects.cache == nil {
		return // That is said already.
	}
	if named == nil || index == "" {
		c.refuse(fmt.Errorf("References needs the name of an index, and a function"))
		return
	}
	c.objects.AddIndex(index, func(object T) ([]string, error) {
		var values []string
		for _, key := range named(object) {
			values = append(values, key.String())
		}
		return values, nil
	})
	store := c.objects.cache.Store()
	Watch(c, referenced, func(e informer.Event[O]) iter.Seq[types.NamespacedName] {
		return func(yield func(types.NamespacedName) bool) {
			naming, err := store.ByIndex(index, e.Key.String())
			if err != nil {
				return // There is no such index: Run has said so.
			}
			for key := range naming {
				if !yield(key) {
					return
				}
			}
		}
	}, when)
}

// Watch has the controller reconcile the objects with the keys that a function tells of each
// event of something else, also of another cluster. The function runs in the goroutine of a
// handler and should be quick. when says which events count, nil all of them.
func Watch[T, O metav1.Object](c *Controller[T], watched *Client[O], keys func(informer.Event[O]) iter.Seq[types.NamespacedName], when func(informer.Event[O]) bool) {
	if keys == nil {
		c.refuse(fmt.Errorf("Watch needs a function that tells keys"))
		return
	}
	handle(c, watched, enqueue.Map(c.queue, keys), when)
}

// Receive has the controller reconcile the objects with the keys that come from a channel,
// while it works, until the channel is closed. cause says why in the queue's Causes.
func (c *Controller[T]) Receive(keys <-chan types.NamespacedName, cause string) {
	c.manager.Add(c.called+": keys from a channel: "+cause, func(ctx context.Context) error {
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
