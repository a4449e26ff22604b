package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// scope says which objects a cache has, and so which writes the cache will see.
type scope struct {
	namespaces []string // all if empty
	labels     labels.Selector
	byField    bool // a field selector decides, which only the server can apply
}

func scopeOf(namespaces []string, labelSelector, fieldSelector string) (scope, error) {
	selector, err := labels.Parse(labelSelector)
	if err != nil {
		return scope{}, fmt.Errorf("LabelSelector %q: %w", labelSelector, err)
	}
	if len(namespaces) == 1 && namespaces[0] == metav1.NamespaceAll {
		namespaces = nil
	}
	return scope{namespaces, selector, fieldSelector != ""}, nil
}

func (s scope) has(object metav1.Object) bool {
	return (len(s.namespaces) == 0 || slices.Contains(s.namespaces, object.GetNamespace())) && s.labels.Matches(labels.Set(object.GetLabels()))
}

// unsurePatience is how long a key is held back for a write that the cache may never see, because a
// field selector decides.
const unsurePatience = 5 * time.Second

// wrote returns a function that takes the result of a write, and holds the key of the turn back until
// the cache has the write.
func (c *Client[T]) wrote(ctx context.Context) func(T, error) (T, error) {
	return func(object T, err error) (T, error) {
		if err == nil && c.scope.has(object) {
			key, version := keyOf(object), object.GetResourceVersion()
			park(ctx, func(ctx context.Context) error { return c.sees(ctx, key, version) })
		}
		return object, err
	}
}

// sees waits until the cache has this version of an object or a newer one. If the object is deleted
// meanwhile, it waits until the version of the store has reached this version.
//
// Either may come first. The version of the store would do in both cases. But it rises with the
// slowest namespace, or with the next bookmark, and that may take a minute.
func (c *Client[T]) sees(ctx context.Context, key types.NamespacedName, version string) error {
	if c.scope.byField {
		bounded, cancel := context.WithTimeout(ctx, unsurePatience)
		defer cancel()
		ctx = bounded
	}
	store := c.cache.Store()
	waiting, cancel := context.WithCancel(ctx)
	reached := make(chan error, 1)
	go func() { reached <- store.WaitRV(waiting, version) }()
	defer func() { // Wait for the goroutine.
		cancel()
		if reached != nil {
			<-reached
		}
	}()
	for {
		changed, forget := store.Notify(key)
		if entry, ok := store.Entry(key); ok && !older(entry.ResourceVersion, version) {
			forget()
			return nil
		}
		select {
		case <-changed:
		case err := <-reached:
			forget()
			reached = nil
			if c.scope.byField && waiting.Err() != nil {
				return nil // The cache may never see the write.
			}
			return err
		}
	}
}

// seesDeletion waits until the cache has no object of this UID that is not being deleted.
func (c *Client[T]) seesDeletion(ctx context.Context, key types.NamespacedName, uid types.UID) error {
	store := c.cache.Store()
	for {
		changed, forget := store.Notify(key)
		object, exists := store.Get(key)
		if !exists || object.GetUID() != uid || object.GetDeletionTimestamp() != nil {
			forget()
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			forget()
			return context.Cause(ctx)
		}
	}
}

// older reports whether a version is known to be older than another.
func older(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}
