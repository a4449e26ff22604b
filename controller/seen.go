package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
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

// viewer is a cache of any type, in which writes are waited for.
type viewer interface {
	// cache is the same for two viewers of one cache, and name is its name.
	cache() any
	name() string
	// wrote returns what waits until the cache has this state of an object, or a newer one; nil if
	// there is nothing to wait for. own says that the write is of a Client of this cache.
	wrote(object metav1.Object, own bool) func(context.Context) error
	// deleting returns, before an object is deleted, what waits until the cache does not have it
	// any more; nil if there is nothing to wait for.
	deleting(object metav1.Object, own bool) func(context.Context) error
}

// wrote returns a function that takes the result of a write, and holds the key of the turn back until
// the caches have the write.
func (c *Client[T]) wrote(ctx context.Context) func(T, error) (T, error) {
	return func(object T, err error) (T, error) {
		if c.refused != nil {
			return object, c.refused
		}
		if err == nil {
			parkAll(ctx, c.collect(object, func(v viewer, own bool) func(context.Context) error { return v.wrote(object, own) }))
		}
		return object, err
	}
}

// deleting returns what to wait for if the deletion of an object that begins now succeeds.
func (c *Client[T]) deleting(object T) []held {
	return c.collect(object, func(v viewer, own bool) func(context.Context) error { return v.deleting(object, own) })
}

// collect returns what to wait for in all caches of the resource.
func (c *Client[T]) collect(object T, of func(v viewer, own bool) func(context.Context) error) (all []held) {
	for _, v := range c.views() {
		if wait := of(v, v.cache() == any(c.store)); wait != nil {
			all = append(all, held{v.name(), keyOf(object), wait})
		}
	}
	return all
}

// parkAll holds the key of a turn back until all of them have returned.
func parkAll(ctx context.Context, writes []held) {
	for _, write := range writes {
		park(ctx, write)
	}
}

// view is the cache of objects of one type.
type view[T metav1.Object] struct {
	called string
	store  *indexer.Reader[T]
	scope  scope
	status func() informer.Status
	ended  func() bool // the informer has stopped
}

func (v *view[T]) cache() any   { return v.store }
func (v *view[T]) name() string { return v.called }

// blind says why the cache will not see a change of an object: its informer has stopped, or the server
// refuses it the resource, or does not have the resource any more. It is nil while the cache can see, or
// may be able to after the next attempt.
func (v *view[T]) blind(key types.NamespacedName) error {
	if v.ended() {
		return informer.ErrStopped
	}
	s := v.status()
	if err := s.Reflector.LastError; s.Reflector.Failures > 0 && cannotSee(err) {
		return err
	}
	for _, part := range s.Parts { // Each is a namespace, by the address of its collection.
		if strings.Contains(part.Part, "/namespaces/"+key.Namespace+"/") && cannotSee(part.Err) {
			return part.Err
		}
	}
	return nil
}

// cannotSee reports whether an error of a cache does not pass by itself.
func cannotSee(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err)
}

// expects reports whether the cache will have an object, as far as that is known: what a field selector
// decides, it may as well not have. That is worth a wait for who reads what it wrote by one Client.
func (v *view[T]) expects(object metav1.Object, own bool) bool {
	return v.scope.has(object) && (own || !v.scope.byField)
}

func (v *view[T]) wrote(object metav1.Object, own bool) func(context.Context) error {
	key, version, has := keyOf(object), object.GetResourceVersion(), v.expects(object, own)
	if v.seen(key, version, has) {
		return nil // The watch was quicker than the answer, or the object is none of the cache's.
	}
	return func(ctx context.Context) error { return v.sees(ctx, key, version, has) }
}

// seen reports whether the cache has this version of an object or a newer one; or, if the object is not
// one of those that the cache has, whether it has none.
func (v *view[T]) seen(key types.NamespacedName, version string, has bool) bool {
	entry, ok := v.store.Entry(key)
	return ok && !older(entry.ResourceVersion, version) || !ok && !has
}

// sees waits until the cache has seen this version of an object. If the object is deleted meanwhile,
// it waits until the version of the store has reached this version. It gives up when the cache is blind.
//
// The version of the store would do in all cases. But it rises with the slowest namespace, or with
// the next bookmark, and that may take a minute.
func (v *view[T]) sees(ctx context.Context, key types.NamespacedName, version string, has bool) error {
	_, incomparable := resourceversion.CompareResourceVersion(version, version)
	unsure := v.scope.byField || incomparable != nil
	if unsure {
		bounded, cancel := context.WithTimeout(ctx, unsurePatience)
		defer cancel()
		ctx = bounded
	}
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	var reached <-chan error // of WaitRV, if that runs
	for {
		changed, forget := v.store.Notify(key)
		if v.seen(key, version, has) {
			forget()
			return nil
		}
		// An older object in the cache is going to change. Other states may never do: an object
		// that is not there may have come and gone, and one that cannot be read stays as it is.
		if _, ok := v.store.Entry(key); reached == nil && incomparable == nil && (!ok || v.store.Unreadable(key) != nil) {
			var end func()
			reached, end = v.reaching(ctx, version)
			defer end()
		}
		if err := v.blind(key); err != nil {
			forget()
			return err
		}
		var err error
		select {
		case <-changed:
			continue
		case <-again.C:
			forget()
			continue
		case err = <-reached:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		forget()
		if unsure && errors.Is(err, context.DeadlineExceeded) {
			return nil // The cache may never see the write.
		}
		return err
	}
}

// reaching calls WaitRV in a goroutine. end ends the call, and waits for it.
func (v *view[T]) reaching(ctx context.Context, version string) (reached <-chan error, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	result := make(chan error, 1)
	var running sync.WaitGroup
	running.Go(func() { result <- v.store.WaitRV(ctx, version) })
	return result, func() { cancel(); running.Wait() }
}

func (v *view[T]) deleting(object metav1.Object, own bool) func(context.Context) error {
	key, uid, version := keyOf(object), object.GetUID(), object.GetResourceVersion()
	if uid == "" {
		cached, exists := v.store.Get(key)
		if !exists {
			return nil
		}
		uid, version = cached.GetUID(), ""
	}
	has := v.expects(object, own)
	return func(ctx context.Context) error {
		// The same turn may have created the object, and the cache may not have it yet.
		if version != "" && has {
			if err := v.sees(ctx, key, version, true); err != nil {
				return err
			}
		}
		return v.seesDeletion(ctx, key, uid)
	}
}

// seesDeletion waits until the cache has no object of this UID that is not being deleted. It gives up
// when the cache is blind, or cannot read the newest state: that may be the one that is being deleted.
func (v *view[T]) seesDeletion(ctx context.Context, key types.NamespacedName, uid types.UID) error {
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		changed, forget := v.store.Notify(key)
		object, exists := v.store.Get(key)
		if !exists || object.GetUID() != uid || object.GetDeletionTimestamp() != nil {
			forget()
			return nil
		}
		err := v.store.Unreadable(key)
		if err == nil {
			err = v.blind(key)
		}
		if err != nil {
			forget()
			return err
		}
		select {
		case <-changed:
		case <-again.C:
			forget()
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
