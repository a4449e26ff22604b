package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/reflector"
)

// scope says which objects a cache selects, and so which writes the cache will see.
type scope struct {
	namespaces []string // all if empty
	labels     labels.Selector
	byField    bool // a field selector, which only the server can evaluate
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

// unsureTimeout is how long a key is held back for a write that the cache may never see because of
// a field selector.
const unsureTimeout = 5 * time.Second

// cacheWaiter is a cache of any type that a write waits for.
type cacheWaiter interface {
	// cache identifies the cache: two waiters of one cache return equal values. name is the cache's
	// name.
	cache() any
	name() string
	// waitForWrite returns a wait until the cache has this state of an object or a newer one, or
	// nil if no wait is needed. The argument own says that a Client of this cache made the write.
	waitForWrite(object metav1.Object, own bool) *cacheWait
	// waitForDeletion is called before a deletion. It returns a wait until the cache no longer has
	// the object, or nil if no wait is needed.
	waitForDeletion(object metav1.Object, own bool) *cacheWait
}

// cacheWait is a wait until a cache has a write.
type cacheWait struct {
	until    func(context.Context) error
	hasWrite func() bool // reports whether the cache has the write now
}

// afterWrite returns a function that gets the result of a write. If the write succeeded, the
// function holds back the reconcile's key until the caches have the write.
func (c *Client[T]) afterWrite(ctx context.Context) func(T, error) (T, error) {
	return func(object T, err error) (T, error) {
		if c.optsErr != nil {
			return object, c.optsErr
		}
		if err == nil {
			parkAll(ctx, c.collectWaits(object, func(v cacheWaiter, own bool) *cacheWait { return v.waitForWrite(object, own) }))
		}
		return object, err
	}
}

// deletionWaits returns the waits for a deletion that is about to begin. The waits apply if the
// deletion succeeds.
func (c *Client[T]) deletionWaits(object T) []awaitedWrite {
	return c.collectWaits(object, func(v cacheWaiter, own bool) *cacheWait { return v.waitForDeletion(object, own) })
}

// collectWaits returns the waits of all caches of the resource.
func (c *Client[T]) collectWaits(object T, of func(v cacheWaiter, own bool) *cacheWait) (all []awaitedWrite) {
	for _, v := range c.waiters() {
		if wait := of(v, v.cache() == any(c.store)); wait != nil {
			all = append(all, awaitedWrite{v.name(), keyOf(object), *wait})
		}
	}
	return all
}

// parkAll holds back the reconcile's key until all waits have returned.
func parkAll(ctx context.Context, writes []awaitedWrite) {
	for _, write := range writes {
		park(ctx, write)
	}
}

// typedCacheWaiter is the cache of objects of one type.
type typedCacheWaiter[T metav1.Object] struct {
	cacheName string
	store     *indexer.Reader[T]
	scope     scope
	status    func() informer.Status

	lastBlindSpots atomic.Pointer[blindSpots]
}

// blindSpots is a recent record of what a cache cannot see.
type blindSpots struct {
	at    time.Time
	err   error // why the cache cannot see any change
	parts []sources.PartFailure
}

func (v *typedCacheWaiter[T]) cache() any   { return v.store }
func (v *typedCacheWaiter[T]) name() string { return v.cacheName }

// whyBlind returns why the cache will not see a change of an object: the cache's informer has
// stopped, the server refuses lists of the resource, or the server no longer has the resource.
// whyBlind returns nil if the cache can see changes, or may see them after the next attempt.
//
// Failures of watches do not count: a cache that can list but not watch sees changes with each
// list. If a watch fails because the server refuses the resource, a list follows after the third
// failure. The first failure of a list does not count either, because the next list may succeed.
func (v *typedCacheWaiter[T]) whyBlind(key types.NamespacedName) error {
	s := v.blindSpots()
	if s.err != nil {
		return s.err
	}
	for _, part := range s.parts {
		// Each part is a namespace, identified by the URL of its collection.
		if strings.Contains(part.Part, "/namespaces/"+key.Namespace+"/") {
			return part.Err
		}
	}
	return nil
}

// blindSpots returns what the cache cannot see. All waits share one result for each interval of
// recheckInterval, because a full Status is expensive.
func (v *typedCacheWaiter[T]) blindSpots() *blindSpots {
	if s := v.lastBlindSpots.Load(); s != nil && time.Since(s.at) < recheckInterval {
		return s
	}
	status := v.status()
	s := &blindSpots{at: time.Now()}
	r := status.Reflector
	failed, _ := errors.AsType[reflector.Error](r.LastError)
	switch {
	case status.Stopped:
		s.err = informer.ErrStopped
	case r.Failures > 0 && !r.LastListAt.After(r.LastErrorAt) && (failed.Phase == reflector.Listing || failed.Phase == reflector.Streaming):
		s.err = permanentListError(failed.Failures, failed)
	}
	for _, part := range status.Parts {
		if permanentListError(part.ListFailures, part.Err) != nil {
			s.parts = append(s.parts, part)
		}
	}
	v.lastBlindSpots.Store(s)
	return s
}

// permanentListError returns err if two consecutive lists have failed, and a further attempt will
// not help.
func permanentListError(failures int, err error) error {
	if failures >= 2 && (apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err)) {
		return err
	}
	return nil
}

// expects reports whether the cache will probably have an object. If a field selector decides that,
// the cache may never have the object, so only the Client that wrote it waits.
func (v *typedCacheWaiter[T]) expects(object metav1.Object, own bool) bool {
	return v.scope.has(object) && (own || !v.scope.byField)
}

func (v *typedCacheWaiter[T]) waitForWrite(object metav1.Object, own bool) *cacheWait {
	key, version, has := keyOf(object), object.GetResourceVersion(), v.expects(object, own)
	if v.hasVersion(key, version, has) {
		// The watch was faster than the response, or the cache does not select the object.
		return nil
	}
	return &cacheWait{
		until:    func(ctx context.Context) error { return v.waitForVersion(ctx, key, version, has) },
		hasWrite: func() bool { return v.hasVersion(key, version, has) || atLeast(v.store.ResourceVersion(), version) },
	}
}

// hasVersion reports whether the cache has this version of an object or a newer one. If the cache
// need not have the object, because expected is false, hasVersion also returns true if the object
// is absent.
func (v *typedCacheWaiter[T]) hasVersion(key types.NamespacedName, version string, expected bool) bool {
	entry, ok := v.store.Entry(key)
	return ok && !older(entry.ResourceVersion, version) || !ok && !expected
}

// waitForVersion waits until the cache has this version of an object. If the object is deleted
// meanwhile, waitForVersion waits until the store has reached this version. It gives up when the
// cache is blind.
//
// To wait for the store's version alone would be enough. But this version advances with the slowest
// namespace, or with the next bookmark, which may take a minute.
func (v *typedCacheWaiter[T]) waitForVersion(ctx context.Context, key types.NamespacedName, version string, expected bool) error {
	_, incomparable := resourceversion.CompareResourceVersion(version, version)
	unsure := v.scope.byField || incomparable != nil
	if unsure {
		bounded, cancel := context.WithTimeout(ctx, unsureTimeout)
		defer cancel()
		ctx = bounded
	}
	recheck := time.NewTicker(recheckInterval)
	defer recheck.Stop()
	var rvResult <-chan error // the result of WaitRV, if it runs
	for {
		changed, forget := v.store.Notify(key)
		if v.hasVersion(key, version, expected) {
			forget()
			return nil
		}
		// An older object in the cache will change. Other states may never change: a missing object
		// may have come and gone, and an undecodable object stays undecodable.
		if _, ok := v.store.Entry(key); rvResult == nil && incomparable == nil && (!ok || v.store.Undecodable(key) != nil) {
			var end func()
			rvResult, end = v.startWaitRV(ctx, version)
			defer end()
		}
		if err := v.whyBlind(key); err != nil {
			forget()
			return err
		}
		var err error
		select {
		case <-changed:
			continue
		case <-recheck.C:
			forget()
			continue
		case err = <-rvResult:
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

// startWaitRV calls WaitRV in a goroutine. The function end cancels the call, and waits for it.
func (v *typedCacheWaiter[T]) startWaitRV(ctx context.Context, version string) (passed <-chan error, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	result := make(chan error, 1)
	var running sync.WaitGroup
	running.Go(func() { result <- v.store.WaitRV(ctx, version) })
	return result, func() { cancel(); running.Wait() }
}

func (v *typedCacheWaiter[T]) waitForDeletion(object metav1.Object, own bool) *cacheWait {
	key, uid, version := keyOf(object), object.GetUID(), object.GetResourceVersion()
	if uid == "" {
		cached, exists := v.store.Get(key)
		if !exists {
			return nil
		}
		uid, version = cached.GetUID(), ""
	}
	expected := v.expects(object, own)
	return &cacheWait{
		until: func(ctx context.Context) error {
			// The same reconcile may have created the object, and the cache may not have it yet.
			if version != "" && expected {
				if err := v.waitForVersion(ctx, key, version, true); err != nil {
					return err
				}
			}
			return v.waitForDeleted(ctx, key, uid)
		},
		hasWrite: func() bool {
			created := version == "" || !expected || v.hasVersion(key, version, true) || atLeast(v.store.ResourceVersion(), version)
			return created && v.deleted(key, uid)
		},
	}
}

// deleted reports whether the cache no longer has the object with this UID, or has it with a
// deletion timestamp.
func (v *typedCacheWaiter[T]) deleted(key types.NamespacedName, uid types.UID) bool {
	object, exists := v.store.Get(key)
	return !exists || object.GetUID() != uid || object.GetDeletionTimestamp() != nil
}

// waitForDeleted waits until the method deleted returns true. It gives up when the cache is blind,
// or cannot decode the newest state, which may be the deletion.
func (v *typedCacheWaiter[T]) waitForDeleted(ctx context.Context, key types.NamespacedName, uid types.UID) error {
	recheck := time.NewTicker(recheckInterval)
	defer recheck.Stop()
	for {
		changed, forget := v.store.Notify(key)
		if v.deleted(key, uid) {
			forget()
			return nil
		}
		err := v.store.Undecodable(key)
		if err == nil {
			err = v.whyBlind(key)
		}
		if err != nil {
			forget()
			return err
		}
		select {
		case <-changed:
		case <-recheck.C:
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

// atLeast reports whether a version is known to be equal to another one, or newer.
func atLeast(version, other string) bool {
	order, err := resourceversion.CompareResourceVersion(version, other)
	return err == nil && order >= 0
}
