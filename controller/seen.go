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
	// wrote returns the wait until the cache has this state of an object, or a newer one; nil if
	// there is nothing to wait for. own says that the write is of a Client of this cache.
	wrote(object metav1.Object, own bool) *wait
	// deleting returns, before an object is deleted, the wait until the cache does not have it
	// any more; nil if there is nothing to wait for.
	deleting(object metav1.Object, own bool) *wait
}

// wait is a wait for a write.
type wait struct {
	until func(context.Context) error
	over  func() bool // reports whether the cache has the write now
}

// wrote returns a function that takes the result of a write, and holds the key of the turn back until
// the caches have the write.
func (c *Client[T]) wrote(ctx context.Context) func(T, error) (T, error) {
	return func(object T, err error) (T, error) {
		if c.refused != nil {
			return object, c.refused
		}
		if err == nil {
			parkAll(ctx, c.collect(object, func(v viewer, own bool) *wait { return v.wrote(object, own) }))
		}
		return object, err
	}
}

// deleting returns what to wait for if the deletion of an object that begins now succeeds.
func (c *Client[T]) deleting(object T) []held {
	return c.collect(object, func(v viewer, own bool) *wait { return v.deleting(object, own) })
}

// collect returns what to wait for in all caches of the resource.
func (c *Client[T]) collect(object T, of func(v viewer, own bool) *wait) (all []held) {
	for _, v := range c.views() {
		if wait := of(v, v.cache() == any(c.store)); wait != nil {
			all = append(all, held{v.name(), keyOf(object), *wait})
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

	last atomic.Pointer[sight]
}

// sight says what a cache cannot see, as of a moment ago.
type sight struct {
	at    time.Time
	err   error // why it cannot see anything
	parts []sources.PartFailure
}

func (v *view[T]) cache() any   { return v.store }
func (v *view[T]) name() string { return v.called }

// blind says why the cache will not see a change of an object: its informer has stopped, or the server
// refuses it lists of the resource, or does not have the resource any more. It is nil while the cache can
// see, or may be able to after the next attempt.
//
// Failures of watches do not count: a cache that may list and not watch goes on slowly, by lists. If a
// watch fails because the server refuses the resource, a list follows after the third failure. Nor does
// the first failure of a list count: it may be over with the next one.
func (v *view[T]) blind(key types.NamespacedName) error {
	s := v.look()
	if s.err != nil {
		return s.err
	}
	for _, part := range s.parts { // Each is a namespace, by the address of its collection.
		if strings.Contains(part.Part, "/namespaces/"+key.Namespace+"/") {
			return part.Err
		}
	}
	return nil
}

// look returns what the cache cannot see. All waits share one look in each interval of lookAgain, as a
// Status has more than they need.
func (v *view[T]) look() *sight {
	if s := v.last.Load(); s != nil && time.Since(s.at) < lookAgain {
		return s
	}
	status := v.status()
	s := &sight{at: time.Now()}
	r := status.Reflector
	failed, _ := errors.AsType[reflector.Error](r.LastError)
	switch {
	case status.Stopped:
		s.err = informer.ErrStopped
	case r.Failures > 0 && !r.LastListAt.After(r.LastErrorAt) && (failed.Phase == reflector.Listing || failed.Phase == reflector.Streaming):
		s.err = refused(failed.Failures, failed)
	}
	for _, part := range status.Parts {
		if refused(part.ListFailures, part.Err) != nil {
			s.parts = append(s.parts, part)
		}
	}
	v.last.Store(s)
	return s
}

// refused returns the error of lists that have failed in a row, if it does not pass by itself.
func refused(failures int, err error) error {
	if failures >= 2 && (apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err)) {
		return err
	}
	return nil
}

// expects reports whether the cache will have an object, as far as that is known: what a field selector
// decides, it may as well not have. That is worth a wait for who reads what it wrote by one Client.
func (v *view[T]) expects(object metav1.Object, own bool) bool {
	return v.scope.has(object) && (own || !v.scope.byField)
}

func (v *view[T]) wrote(object metav1.Object, own bool) *wait {
	key, version, has := keyOf(object), object.GetResourceVersion(), v.expects(object, own)
	if v.seen(key, version, has) {
		return nil // The watch was quicker than the answer, or the object is none of the cache's.
	}
	return &wait{
		until: func(ctx context.Context) error { return v.sees(ctx, key, version, has) },
		over:  func() bool { return v.seen(key, version, has) || reached(v.store.ResourceVersion(), version) },
	}
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
	var passed <-chan error // of WaitRV, if that runs
	for {
		changed, forget := v.store.Notify(key)
		if v.seen(key, version, has) {
			forget()
			return nil
		}
		// An older object in the cache is going to change. Other states may never do: an object
		// that is not there may have come and gone, and one that cannot be read stays as it is.
		if _, ok := v.store.Entry(key); passed == nil && incomparable == nil && (!ok || v.store.Unreadable(key) != nil) {
			var end func()
			passed, end = v.reaching(ctx, version)
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
		case err = <-passed:
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
func (v *view[T]) reaching(ctx context.Context, version string) (passed <-chan error, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	result := make(chan error, 1)
	var running sync.WaitGroup
	running.Go(func() { result <- v.store.WaitRV(ctx, version) })
	return result, func() { cancel(); running.Wait() }
}

func (v *view[T]) deleting(object metav1.Object, own bool) *wait {
	key, uid, version := keyOf(object), object.GetUID(), object.GetResourceVersion()
	if uid == "" {
		cached, exists := v.store.Get(key)
		if !exists {
			return nil
		}
		uid, version = cached.GetUID(), ""
	}
	has := v.expects(object, own)
	return &wait{
		until: func(ctx context.Context) error {
			// The same turn may have created the object, and the cache may not have it yet.
			if version != "" && has {
				if err := v.sees(ctx, key, version, true); err != nil {
					return err
				}
			}
			return v.seesDeletion(ctx, key, uid)
		},
		over: func() bool {
			created := version == "" || !has || v.seen(key, version, true) || reached(v.store.ResourceVersion(), version)
			return created && v.deleted(key, uid)
		},
	}
}

// deleted reports whether the cache has no object of this UID that is not being deleted.
func (v *view[T]) deleted(key types.NamespacedName, uid types.UID) bool {
	object, exists := v.store.Get(key)
	return !exists || object.GetUID() != uid || object.GetDeletionTimestamp() != nil
}

// seesDeletion waits until the cache has no object of this UID that is not being deleted. It gives up
// when the cache is blind, or cannot read the newest state: that may be the one that is being deleted.
func (v *view[T]) seesDeletion(ctx context.Context, key types.NamespacedName, uid types.UID) error {
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		changed, forget := v.store.Notify(key)
		if v.deleted(key, uid) {
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

// reached reports whether a version is known to be another one, or newer.
func reached(version, other string) bool {
	order, err := resourceversion.CompareResourceVersion(version, other)
	return err == nil && order >= 0
}
