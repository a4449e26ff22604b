package testing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// ObjectTracker is a store of objects, by resource, namespace and name, with watches. Fake clients
// use it for calls that no reactor of the test handles. It is safe for concurrent use. It stores
// copies of its arguments, and returns copies.
//
// The last argument of each method has the options of the call. It may be omitted.
type ObjectTracker interface {
	// Add creates an object, or each item of a list, in the object's namespace. It guesses the
	// resource from the kind.
	Add(obj runtime.Object) error
	// Get returns an object.
	Get(gvr schema.GroupVersionResource, ns, name string, opts ...metav1.GetOptions) (runtime.Object, error)
	// Create adds an object. It is an error if the object exists.
	Create(gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.CreateOptions) error
	// Update replaces an object. It is an error if the object does not exist.
	Update(gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.UpdateOptions) error
	// Patch replaces an object with obj, the result of a patch. It is an error if the object does
	// not exist.
	Patch(gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.PatchOptions) error
	// Apply applies a configuration. A tracker without managed fields treats it as a strategic
	// merge patch of an existing object. A tracker with managed fields creates the object if it
	// does not exist, and returns an error if another manager owns a field.
	Apply(gvr schema.GroupVersionResource, applyConfiguration runtime.Object, ns string, opts ...metav1.PatchOptions) error
	// List returns the objects in a namespace, or in all namespaces if ns is "", sorted by
	// namespace and name. The kind of the list is gvk's kind followed by "List". It ignores
	// selectors, because the fake clients apply them.
	List(gvr schema.GroupVersionResource, gvk schema.GroupVersionKind, ns string, opts ...metav1.ListOptions) (runtime.Object, error)
	// Delete removes an object. It is an error if the object does not exist.
	Delete(gvr schema.GroupVersionResource, ns, name string, opts ...metav1.DeleteOptions) error
	// Watch returns the changes after the call, in a namespace, or in all namespaces if ns is "".
	// With options, it first returns the changes since the resourceVersion of the options, which is
	// the version of a list. It sends a Deleted event for each listed object that was deleted
	// since. It sends an Added event for each object that was written since, or for each object if
	// the options have no version. A version from before the last thousand deletions of a resource
	// is expired.
	Watch(gvr schema.GroupVersionResource, ns string, opts ...metav1.ListOptions) (watch.Interface, error)
}

// ObjectScheme is the part of a runtime.Scheme that a tracker uses.
type ObjectScheme interface {
	runtime.ObjectCreater
	runtime.ObjectTyper
}

// tracker is an ObjectTracker without managed fields.
type tracker struct {
	scheme  ObjectScheme
	decoder runtime.Decoder

	mu        sync.RWMutex // guards following
	resources map[schema.GroupVersionResource]*resource
}

// resource is the state of one resource.
type resource struct {
	objects map[types.NamespacedName]tracked
	// last states of deleted objects in the order of deletion, at most maxDeleted
	deleted []tracked
	// about the deletions that were dropped from the slice deleted: the lowest version of a
	// creation, and the highest version of a deletion
	forgotten struct{ created, deleted int64 }
	// version of the last write or deletion; 1 before the first
	version  int64
	watchers map[*watcher]string
}

// tracked is an object with two versions: the version of its creation, and the version of its last
// write or of its deletion.
type tracked struct {
	object           runtime.Object
	namespace        string
	created, version int64
}

// maxDeleted limits the number of past deletions of a resource that a watch can return.
const maxDeleted = 1000

// NewObjectTracker returns an empty tracker. decoder decodes list items that are passed to Add as
// runtime.Unknown.
func NewObjectTracker(scheme ObjectScheme, decoder runtime.Decoder) ObjectTracker {
	return &tracker{scheme: scheme, decoder: decoder, resources: map[schema.GroupVersionResource]*resource{}}
}

// IsWatchListSemanticsUnSupported makes reflectors list, because a watch of the tracker sends no
// bookmark after the initial events.
func (t *tracker) IsWatchListSemanticsUnSupported() bool { return true }

func (t *tracker) Add(obj runtime.Object) error {
	if obj != nil && meta.IsListType(obj) {
		return t.addItems(obj)
	}
	object, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	kinds, _, err := t.scheme.ObjectKinds(obj)
	if err != nil {
		return err
	}
	if partial, ok := obj.(*metav1.PartialObjectMetadata); ok && partial.APIVersion != "" {
		// the kind of the whole object
		kinds = []schema.GroupVersionKind{partial.GroupVersionKind()}
	}
	if len(kinds) == 0 {
		return fmt.Errorf("no registered kinds for %v", obj)
	}
	for _, kind := range kinds {
		gvr, _ := meta.UnsafeGuessKindToResource(kind)
		if gvr.Version == runtime.APIVersionInternal {
			gvr.Version = ""
		}
		if err := t.write(gvr, obj, object.GetNamespace(), creates); err != nil {
			return err
		}
	}
	return nil
}

func (t *tracker) addItems(list runtime.Object) error {
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	if errs := runtime.DecodeList(items, t.decoder); len(errs) > 0 {
		return errs[0]
	}
	for _, item := range items {
		if err := t.Add(item); err != nil {
			return err
		}
	}
	return nil
}

func (t *tracker) Get(gvr schema.GroupVersionResource, ns, name string, opts ...metav1.GetOptions) (runtime.Object, error) {
	if _, err := singleOption(opts); err != nil {
		return nil, err
	}
	t.mu.RLock()
	var found tracked
	if r := t.resources[gvr]; r != nil {
		found = r.objects[types.NamespacedName{Namespace: ns, Name: name}]
	}
	t.mu.RUnlock()
	if found.object == nil {
		return nil, apierrors.NewNotFound(gvr.GroupResource(), name)
	}
	obj := found.object.DeepCopyObject() // a copy, because the stored object must not be modified
	if status, ok := obj.(*metav1.Status); ok && status.Status != metav1.StatusSuccess {
		return nil, &apierrors.StatusError{ErrStatus: *status}
	}
	return obj, nil
}

func (t *tracker) Create(gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.CreateOptions) error {
	if _, err := singleOption(opts); err != nil {
		return err
	}
	return t.write(gvr, obj, ns, creates)
}

func (t *tracker) Update(gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.UpdateOptions) error {
	if _, err := singleOption(opts); err != nil {
		return err
	}
	return t.write(gvr, obj, ns, replaces)
}

func (t *tracker) Patch(gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.PatchOptions) error {
	if _, err := singleOption(opts); err != nil {
		return err
	}
	return t.write(gvr, obj, ns, replaces)
}

func (t *tracker) Apply(gvr schema.GroupVersionResource, applyConfiguration runtime.Object, ns string, opts ...metav1.PatchOptions) error {
	configuration, err := meta.Accessor(applyConfiguration)
	if err != nil {
		return err
	}
	before, err := t.Get(gvr, ns, configuration.GetName())
	if err != nil {
		return err
	}
	patch, err := json.Marshal(applyConfiguration)
	if err != nil {
		return err
	}
	after, err := merged(before, types.StrategicMergePatchType, patch)
	if err != nil {
		return err
	}
	return t.Patch(gvr, after, ns, opts...)
}

// Values of write's argument replace: with creates the object must not exist, with replaces it must
// exist.
const creates, replaces = false, true

// write stores a copy of an object and sends the change to the watchers.
func (t *tracker) write(gvr schema.GroupVersionResource, obj runtime.Object, ns string, replace bool) error {
	if _, err := meta.Accessor(obj); err != nil {
		return err
	}
	obj = obj.DeepCopyObject()
	object, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	if object.GetNamespace() == "" {
		object.SetNamespace(ns)
	}
	if ns != object.GetNamespace() {
		return apierrors.NewBadRequest(fmt.Sprintf("request namespace does not match object namespace, request: %q object: %q", ns, object.GetNamespace()))
	}
	key := types.NamespacedName{Namespace: ns, Name: object.GetName()}

	t.mu.Lock()
	defer t.mu.Unlock()
	kind := watch.Added
	if r := t.resources[gvr]; r != nil && r.objects[key].object != nil {
		kind = watch.Modified
	}
	switch {
	case kind == watch.Modified && !replace:
		return apierrors.NewAlreadyExists(gvr.GroupResource(), key.Name)
	case kind == watch.Added && replace:
		return apierrors.NewNotFound(gvr.GroupResource(), key.Name)
	}
	r := t.resourceLocked(gvr)
	r.version++
	created := r.version
	if kind == watch.Modified {
		created = r.objects[key].created
	}
	r.objects[key] = tracked{obj, ns, created, r.version}
	r.notifyLocked(kind, ns, obj)
	return nil
}

func (t *tracker) Delete(gvr schema.GroupVersionResource, ns, name string, opts ...metav1.DeleteOptions) error {
	if _, err := singleOption(opts); err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: ns, Name: name}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.resources[gvr]
	if r == nil || r.objects[key].object == nil {
		return apierrors.NewNotFound(gvr.GroupResource(), name)
	}
	last := r.objects[key]
	delete(r.objects, key)
	r.version++
	last.version = r.version
	r.deleted = append(r.deleted, last)
	if len(r.deleted) > maxDeleted {
		oldest := r.deleted[0]
		r.deleted[0] = tracked{} // the underlying array is kept for a while
		r.deleted = r.deleted[1:]
		if r.forgotten.deleted == 0 || oldest.created < r.forgotten.created {
			r.forgotten.created = oldest.created
		}
		r.forgotten.deleted = oldest.version
	}
	r.notifyLocked(watch.Deleted, ns, last.object)
	return nil
}

func (t *tracker) List(gvr schema.GroupVersionResource, gvk schema.GroupVersionKind, ns string, opts ...metav1.ListOptions) (runtime.Object, error) {
	if _, err := singleOption(opts); err != nil {
		return nil, err
	}
	gvk.Kind += "List"
	if gvk.Version == "" {
		gvk.Version = runtime.APIVersionInternal
	}
	list, err := t.scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	if !meta.IsListType(list) {
		return nil, fmt.Errorf("%q is not a list type", gvk.Kind)
	}
	version := int64(1)
	t.mu.RLock()
	defer t.mu.RUnlock()
	if r := t.resources[gvr]; r != nil {
		version = r.version
		found := r.writtenAfter(ns, 0)
		items := make([]runtime.Object, len(found))
		for i, object := range found {
			items[i] = object.DeepCopyObject()
		}
		if err := meta.SetList(list, items); err != nil {
			return nil, err
		}
	}
	if accessor, err := meta.ListAccessor(list); err == nil {
		accessor.SetResourceVersion(strconv.FormatInt(version, 10))
	}
	return list, nil
}

func (t *tracker) Watch(gvr schema.GroupVersionResource, ns string, opts ...metav1.ListOptions) (watch.Interface, error) {
	o, err := singleOption(opts)
	if err != nil {
		return nil, err
	}
	var after int64
	if o.ResourceVersion != "" {
		if after, err = strconv.ParseInt(o.ResourceVersion, 10, 64); err != nil {
			return nil, fmt.Errorf("invalid ResourceVersion %q in ListOptions, must be int64: %w", o.ResourceVersion, err)
		}
	}
	w := newWatcher()
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.resourceLocked(gvr)
	if len(opts) > 0 {
		if r.forgotten.created <= after && after < r.forgotten.deleted {
			return nil, apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", after, r.forgotten.deleted))
		}
		for _, last := range r.deleted {
			if last.created <= after && after < last.version && (ns == "" || ns == last.namespace) {
				w.send(watch.Deleted, last.object)
			}
		}
		for _, obj := range r.writtenAfter(ns, after) {
			w.send(watch.Added, obj)
		}
	}
	r.watchers[w] = ns
	return w, nil
}

// resourceLocked returns the state of a resource, and creates it if necessary.
func (t *tracker) resourceLocked(gvr schema.GroupVersionResource) *resource {
	r := t.resources[gvr]
	if r == nil {
		r = &resource{objects: map[types.NamespacedName]tracked{}, version: 1, watchers: map[*watcher]string{}}
		t.resources[gvr] = r
	}
	return r
}

// writtenAfter returns the objects that were written after a version, in a namespace or in all
// namespaces.
func (r *resource) writtenAfter(ns string, after int64) []runtime.Object {
	var keys []types.NamespacedName
	for key, object := range r.objects {
		if (ns == "" || ns == key.Namespace) && object.version > after {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	objects := make([]runtime.Object, len(keys))
	for i, key := range keys {
		objects[i] = r.objects[key].object
	}
	return objects
}

// notifyLocked sends a change to the watchers of the namespace ns, and removes stopped watchers.
func (r *resource) notifyLocked(kind watch.EventType, ns string, obj runtime.Object) {
	for w, watched := range r.watchers {
		if w.isStopped() {
			delete(r.watchers, w)
		} else if watched == "" || watched == ns {
			w.send(kind, obj)
		}
	}
}

// singleOption returns the options of a call, which may have at most one.
func singleOption[T any](opts []T) (o T, err error) {
	switch len(opts) {
	case 0:
		return o, nil
	case 1:
		return opts[0], nil
	}
	return o, fmt.Errorf("expected only one option argument but got %d", len(opts))
}
