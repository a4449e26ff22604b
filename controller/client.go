package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/profile"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/finalizer"
)

// Client reads the objects of one resource from a cache and writes them to the server. [For] makes
// a Client. A Client is safe for concurrent use.
//
// Get returns the objects of the cache, which are shared: they must not be changed. Objects that a
// write returns belong to the caller.
//
// # Reading one's own writes
//
// A successful write with the context of a reconcile holds back the key of that reconcile until
// every cache of the manager has the write. So the next reconcile of the key sees the write,
// repeats no work, and has no conflict with the controller's own writes. The reconcile that writes
// may not see its write in the cache. It can use the object that the write returned.
//
// The key is held back for two minutes at most, because a working cache has a write within the
// interval of two bookmarks. The limit is five seconds if a field selector decides whether the
// Client's cache has the object, or if the server's versions cannot be compared.
//
// The wait ends earlier if the cache cannot see the write: its informer has stopped, or the object
// cannot be decoded. The same holds after two consecutive failed lists, if the server refuses the
// resource (status 403 or 405) or no longer has it (status 404). If a wait ends without the write,
// the log and [Manager.Ready] name the key. Ready names the key until the cache has the write, for
// five minutes at most; see ControllerStatus.UnseenWrites.
type Client[T metav1.Object] struct {
	server         *rest.Resource[T]
	cache          *informer.Handle[T] // nil for an invalidClient
	store          *indexer.Reader[T]  // reads the cache
	cacheName      string              // name of the cache
	waiters        func() []cacheWaiter
	fieldManager   string // of all writes
	kind           schema.GroupKind
	addWiringError func(error)

	optsErr error // error in the options, or nil
}

// For returns a Client of the manager's cluster. All Clients that select the same objects have one
// cache, which the manager keeps. opts name the resource, and select the objects in the cache; for
// a built-in type, the resource is known. See [Select] for other clusters, several namespaces, and
// the options of an informer.
//
// If opts are invalid, [Manager.Run] returns the error before anything starts. The Client can still
// be used: its cache is empty, it sends nothing, and its calls return that error. The cache is
// complete when the manager's controllers run. For panics if m is nil.
func For[T metav1.Object](m *Manager, opts rest.ResourceOptions) *Client[T] {
	return Select(m, Selection[T]{ResourceOptions: opts})
}

// Selection selects the objects in the cache of [Select]. The zero value means all objects of a
// built-in type in the manager's cluster.
type Selection[T metav1.Object] struct {
	rest.ResourceOptions

	// Client is a client of the cluster with the objects. Defaults to the manager's client.
	Client *rest.Client

	// Namespaces are the selected namespaces, for programs that may not list the whole cluster.
	// Defaults to ResourceOptions.Namespace, and otherwise to the manager's namespaces.
	// []string{""} means all namespaces, even if the manager has only some. A cluster-scoped custom
	// resource needs []string{""} in a manager with Namespaces, because the manager knows only the
	// scope of built-in resources.
	Namespaces []string

	// Informer configures the cache. Its Logger defaults to the manager's Logger. Two Selections of
	// the same objects must have the same options.
	Informer informer.Options[T]
}

// Select is [For] with all options.
func Select[T metav1.Object](m *Manager, s Selection[T]) *Client[T] {
	c, err := newClient(m, s)
	if err != nil {
		err = fmt.Errorf("controller: objects of type %T: %w", *new(T), err)
		m.addWiringError(err)
		return invalidClient[T](m, err)
	}
	return c
}

// invalidClient returns a Client whose calls return optsErr.
func invalidClient[T metav1.Object](m *Manager, optsErr error) *Client[T] {
	closed := rest.Must(rest.NewClient(rest.Config{Host: "http://refused.invalid"}, rest.Options{Logger: slog.New(slog.DiscardHandler)}))
	closed.Close()
	nothing := schema.GroupVersionResource{Version: "v1", Resource: "refused"}
	empty := rest.Must(indexer.New(indexer.Options[T]{})) // Zero options are valid.
	return &Client[T]{
		server: rest.Must(rest.NewJSONResource[T](closed, nothing, rest.ResourceOptions{})), store: empty.Reader,
		waiters: func() []cacheWaiter { return nil }, addWiringError: m.addWiringError, optsErr: optsErr,
	}
}

func newClient[T metav1.Object](m *Manager, s Selection[T]) (*Client[T], error) {
	if s.Client == nil {
		s.Client = m.client
	}
	if len(s.Namespaces) > 0 && s.Namespace != "" {
		return nil, errors.New("the options Namespace and Namespaces are both set: leave one of them empty")
	}
	resource := s.ResourceOptions
	resource.Namespace = "" // Writes go to the namespaces of their objects.
	server, err := rest.For[T](s.Client, resource)
	if err != nil {
		return nil, err
	}
	namespaces := s.Namespaces
	switch {
	case s.Namespace != "":
		namespaces = []string{s.Namespace}
	case len(namespaces) == 0 && !clusterWide(server.GroupKind(), server.GroupVersionResource()):
		namespaces = m.opts.Namespaces
	}
	if s.Informer.Logger == nil {
		s.Informer.Logger = m.opts.Logger
	}
	if s.Informer.Goroutine == nil {
		s.Informer.Goroutine = profile.Labels
	}
	open := func(selection informer.Selection) (listwatch.Source[T], error) {
		opts := s.ResourceOptions
		opts.Namespace = selection.Namespace()
		return rest.For[T](s.Client, opts)
	}
	scope, err := scopeOf(namespaces, s.LabelSelector, s.FieldSelector)
	if err != nil {
		return nil, err
	}
	projection := "" // the fields that are left out of the objects
	if s.Project != nil {
		projection = fmt.Sprintf("%T %+[1]v", s.Project)
	}
	selection := informer.Selection{
		Resource:      server.GroupVersionResource(),
		Namespaces:    namespaces,
		LabelSelector: s.LabelSelector,
		FieldSelector: s.FieldSelector,
		Projection:    projection,
	}
	s.Informer.Name = m.uniqueCacheName(cacheIDOf[T](s.Client, selection), cmp.Or(s.Informer.Name, selection.Resource.Resource))
	s.Informer = observeCache(m.opts.Observer, s.Informer)
	cache, err := informer.Acquire(m.caches(s.Client), selection, open, s.Informer)
	if err != nil {
		return nil, err
	}
	v := &typedCacheWaiter[T]{
		cacheName: s.Informer.Name, store: cache.Store(), scope: scope, status: cache.Status,
	}
	m.addWaiter(s.Client, selection.Resource.GroupResource(), v)
	return &Client[T]{
		server: server, cache: cache, store: cache.Store(), cacheName: s.Informer.Name, fieldManager: m.opts.Name, kind: server.GroupKind(), addWiringError: m.addWiringError,
		waiters: func() []cacheWaiter { return m.waitersOf(s.Client, selection.Resource.GroupResource()) },
	}, nil
}

// clusterWide reports whether objects of this kind are known to be cluster-scoped.
func clusterWide(kind schema.GroupKind, resource schema.GroupVersionResource) bool {
	_, namespaced, builtin := rest.Builtin(kind.WithVersion(resource.Version))
	return builtin && !namespaced
}

// Get returns an object from the cache, and whether it exists. The object must not be changed.
func (c *Client[T]) Get(key types.NamespacedName) (T, bool) { return c.store.Get(key) }

// Cache returns a read-only view of the cache, with its iterators, indexes and snapshots.
func (c *Client[T]) Cache() *indexer.Reader[T] { return c.store }

// Server returns the resource of the server. A read from it does not use the cache, and a write
// holds back no key.
func (c *Client[T]) Server() *rest.Resource[T] { return c.server }

// AddIndex adds an index to the cache: [indexer.Reader.Index] finds objects by the values that fn
// returns. fn must depend on its argument only. If the cache already has an index of this name,
// [Manager.Run] returns an error.
func (c *Client[T]) AddIndex(name string, fn indexer.IndexFunc[T]) {
	if c.cache != nil {
		c.addWiringError(c.cache.AddIndex(name, fn))
	}
}

// Create creates an object, and returns the server's object.
func (c *Client[T]) Create(ctx context.Context, object T) (T, error) {
	return c.afterWrite(ctx)(c.server.Create(ctx, object, metav1.CreateOptions{FieldManager: c.fieldManager}))
}

// Update replaces an object, and returns the server's object. If object has a resourceVersion, and
// the server's object has changed since, the error is a conflict.
func (c *Client[T]) Update(ctx context.Context, object T) (T, error) {
	return c.afterWrite(ctx)(c.server.Update(ctx, object, metav1.UpdateOptions{FieldManager: c.fieldManager}))
}

// UpdateStatus is Update for the status.
func (c *Client[T]) UpdateStatus(ctx context.Context, object T) (T, error) {
	return c.afterWrite(ctx)(c.server.UpdateStatus(ctx, object, metav1.UpdateOptions{FieldManager: c.fieldManager}))
}

// Patch changes an object, or a subresource of it, by a patch of the given type: JSON, merge,
// strategic merge (built-in types only), or apply. [Client.Merge] computes a merge patch.
func (c *Client[T]) Patch(ctx context.Context, key types.NamespacedName, patchType types.PatchType, data []byte, subresources ...string) (T, error) {
	return c.afterWrite(ctx)(c.server.Patch(ctx, key, patchType, data, metav1.PatchOptions{FieldManager: c.fieldManager}, subresources...))
}

// Apply sets the fields of object on the server, and creates the object if it does not exist:
// server-side apply (KEP-555), with the manager's Name as field manager. object must contain only
// the fields that the controller owns. Apply takes over fields whose values other field managers
// have set.
func (c *Client[T]) Apply(ctx context.Context, object T) (T, error) {
	return c.afterWrite(ctx)(c.server.ServerSideApply(ctx, object, metav1.ApplyOptions{FieldManager: c.fieldManager, Force: true}))
}

// ApplyStatus is Apply for the status.
func (c *Client[T]) ApplyStatus(ctx context.Context, object T) (T, error) {
	return c.afterWrite(ctx)(c.server.ServerSideApply(ctx, object, metav1.ApplyOptions{FieldManager: c.fieldManager, Force: true}, "status"))
}

// Delete requests the deletion of an object. If object has a UID, the server deletes the object
// only if the UIDs match: a later object of the same name stays. Delete returns nil if the object
// is gone already.
func (c *Client[T]) Delete(ctx context.Context, object T) error {
	if c.optsErr != nil {
		return c.optsErr
	}
	opts := metav1.DeleteOptions{}
	if uid := object.GetUID(); uid != "" {
		opts.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	waits := c.deletionWaits(object)
	err := c.server.Delete(ctx, keyOf(object), opts)
	if apierrors.IsNotFound(err) {
		err = nil
	}
	if err == nil {
		parkAll(ctx, waits)
	}
	return err
}

// Finalize adds or removes a finalizer, see [finalizer.Handle]. If the object is not being deleted,
// Finalize adds the finalizer, and returns the object with it. If the object is being deleted,
// Finalize calls the function clean, and removes the finalizer when the function has returned nil.
// If the result gone is true, nothing is left to do.
func (c *Client[T]) Finalize(ctx context.Context, object T, name string, clean func(context.Context, T) error) (current T, gone bool, err error) {
	if c.optsErr != nil {
		return object, false, c.optsErr
	}
	current, gone, err = finalizer.Handle(ctx, c.server, object, name, clean)
	if err == nil && current.GetResourceVersion() != object.GetResourceVersion() {
		current, err = c.afterWrite(ctx)(current, nil)
	}
	return current, gone, err
}

// keyOf returns the key of an object.
func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}
