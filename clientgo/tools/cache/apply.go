package cache

import (
	"context"

	"k8s.io/client-go/internal/sink"

	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
)

// applier changes the store of an informer and returns the notifications for its handlers. Only one
// goroutine at a time may use it, except for hasVersion.
type applier struct {
	indexer  Indexer
	detector MutationDetector
	metrics  *informerMetrics
	ctx      context.Context // of the run
	panicked any             // the first panic since the last call of repanic
}

// informerKey returns the key of an object in the store.
func informerKey(key types.NamespacedName) string {
	if key.Namespace == "" {
		return key.Name
	}
	return key.Namespace + "/" + key.Name
}

func identityOf(obj interface{}) (version string, uidHash uint64, ok bool) {
	o, err := meta.Accessor(obj)
	if err != nil {
		return "", 0, false
	}
	return o.GetResourceVersion(), listwatch.HashUID(o.GetUID()), true
}

// isSame reports whether two states have the same version, which means that nothing has changed
// (SI-12).
func isSame(old, now interface{}) bool {
	a, _, okA := identityOf(old)
	b, _, okB := identityOf(now)
	return okA && okB && a == b && a != "" // a transform may have dropped the version (D12)
}

func (a *applier) hasVersion(key types.NamespacedName, resourceVersion string, uidHash uint64) bool {
	if resourceVersion == "" {
		return false
	}
	obj, exists, err := a.indexer.GetByKey(informerKey(key))
	if err != nil || !exists {
		return false
	}
	version, uid, ok := identityOf(obj)
	return ok && version == resourceVersion && !listwatch.OtherUID(uid, uidHash)
}

// transformItems transforms the objects of a list in place.
func transformItems(items []listwatch.Item[any], transform TransformFunc) error {
	if transform == nil {
		return nil
	}
	for i := range items {
		if items[i].State != listwatch.Decoded {
			continue
		}
		var err error
		if items[i].Object, err = sink.Transform(items[i].Object, transform); err != nil {
			return err
		}
	}
	return nil
}

// transformEvent transforms the object of an event.
func transformEvent(event *listwatch.Event[any], transform TransformFunc) (err error) {
	if transform != nil && event.State == listwatch.Decoded && event.Type != listwatch.Bookmark {
		event.Object, err = sink.Transform(event.Object, transform)
	}
	return err
}

// replace applies a whole list. Readers of the store see the list as one change. It returns the
// notifications: first the deletions, then one for each object in the order of the list (PD-5).
func (a *applier) replace(snapshot listwatch.Snapshot[any], initial bool) ([]notification, error) {
	objs := make([]interface{}, 0, len(snapshot.Items))
	listed := make(map[string]struct{}, len(snapshot.Items))
	for i := range snapshot.Items {
		item := &snapshot.Items[i]
		if item.State != listwatch.Decoded {
			known, exists, err := a.indexer.GetByKey(informerKey(item.Key))
			if err != nil || !exists {
				continue
			}
			listed[informerKey(item.Key)] = struct{}{}
			objs = append(objs, known)
			continue
		}
		key, err := DeletionHandlingMetaNamespaceKeyFunc(item.Object)
		if err != nil {
			return nil, KeyError{Obj: item.Object, Err: err}
		}
		listed[key] = struct{}{}
		objs = append(objs, item.Object)
	}

	notes := make([]notification, 0, len(objs))
	for _, key := range a.indexer.ListKeys() {
		if _, ok := listed[key]; ok {
			continue
		}
		old, exists, err := a.indexer.GetByKey(key)
		if err != nil || !exists {
			continue
		}
		if snapshot.NamesMissing {
			objs = append(objs, old)
			continue
		}
		notes = append(notes, notification{kind: onDelete, now: DeletedFinalStateUnknown{Key: key, Obj: old}})
	}
	notified := make(map[string]interface{})
	for _, obj := range objs {
		key, err := DeletionHandlingMetaNamespaceKeyFunc(obj)
		if err != nil {
			continue
		}
		old, exists := notified[key]
		if !exists {
			old, exists, _ = a.indexer.GetByKey(key)
		}
		if exists {
			notes = append(notes, notification{kind: onUpdate, old: old, now: obj, unchanged: isSame(old, obj)})
			continue
		}
		notes = append(notes, notification{kind: onAdd, now: obj, initial: initial})
		if len(listed) < len(objs) { // a key that is listed twice becomes an add and then an update
			notified[key] = obj
		}
	}
	err := a.write(func() error { return a.indexer.Replace(objs, snapshot.ResourceVersion) })
	if err != nil {
		return nil, err
	}
	for _, obj := range objs {
		a.detectMutations(obj)
	}
	a.metrics.at(snapshot.ResourceVersion)
	return notes, nil
}

// event applies one change. The notification is an update if the store has the object, and an add
// otherwise (PD-2). If changed is false, there is no notification.
func (a *applier) event(event listwatch.Event[any]) (note notification, changed bool, err error) {
	if event.Type == listwatch.Bookmark {
		a.indexer.Bookmark(event.ResourceVersion)
		a.metrics.at(event.ResourceVersion)
		return note, false, nil
	}
	if event.State == listwatch.Undecodable {
		return a.applyUndecodable(event)
	}
	obj := event.Object
	key, err := DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return note, false, KeyError{Obj: obj, Err: err}
	}
	old, exists, err := a.indexer.GetByKey(key)
	switch {
	case err != nil:
		return note, false, err
	case event.Type == listwatch.Deleted:
		note = notification{kind: onDelete, now: obj}
		err = a.write(func() error { return a.indexer.Delete(obj) })
	case exists:
		note = notification{kind: onUpdate, old: old, now: obj, unchanged: isSame(old, obj)}
		err = a.write(func() error { return a.indexer.Update(obj) })
	default:
		note = notification{kind: onAdd, now: obj}
		err = a.write(func() error { return a.indexer.Add(obj) })
	}
	if err != nil {
		return note, false, err
	}
	if note.kind != onDelete {
		a.detectMutations(obj)
	}
	a.metrics.at(event.ResourceVersion)
	return note, true, nil
}

// applyUndecodable applies an event whose object could not be decoded. The notification of a
// deletion has a tombstone.
func (a *applier) applyUndecodable(event listwatch.Event[any]) (note notification, changed bool, err error) {
	key := informerKey(event.Key)
	old, exists, err := a.indexer.GetByKey(key)
	if err != nil || !exists {
		return note, false, err
	}
	_, uid, _ := identityOf(old)
	if event.Type != listwatch.Deleted && !listwatch.OtherUID(uid, event.UIDHash) {
		return note, false, nil
	}
	err = a.write(func() error { return a.indexer.Delete(old) })
	return notification{kind: onDelete, now: DeletedFinalStateUnknown{Key: key, Obj: old}}, err == nil, err
}

// resync returns one notification for each object of the store.
func (a *applier) resync() []notification {
	objs := a.indexer.List()
	notes := make([]notification, len(objs))
	for i, obj := range objs {
		notes[i] = notification{kind: onUpdate, old: obj, now: obj, unchanged: true}
	}
	return notes
}

// write changes the store by calling a function. If an index function panics, the store has the
// objects nevertheless, and the caller must notify the handlers. client-go does not notify them.
func (a *applier) write(to func() error) (err error) {
	a.guard("A function that changes the store panicked", func() { err = to() })
	return err
}

// detectMutations passes an object to the mutation detector, if there is one. The detector copies
// the object by calling a method of the object, which may panic.
func (a *applier) detectMutations(obj interface{}) {
	if _, none := a.detector.(noDetector); !none {
		a.guard("A function that copies an object panicked", func() { a.detector.AddObject(obj) })
	}
}

// guard calls work, a function of the program, and saves the first panic for the method repanic. It
// does not call HandleCrash itself: a shared informer calls guard with a lock held, and the
// program's panic handlers may need that lock.
func (a *applier) guard(what string, work func()) {
	defer func() {
		if p := recover(); p != nil && a.panicked == nil {
			logStack(a.ctx, what, p)
			a.panicked = p
		}
	}()
	work()
}

// repanic calls HandleCrash with the panic that guard has saved, and then pauses, as client-go
// does. The caller must hold no lock.
func (a *applier) repanic() {
	if p := a.panicked; p != nil {
		a.panicked = nil
		returnsWithoutPanic(a.ctx, func() { panic(p) })
		pauseFor(a.ctx, crashPauseLength)()
	}
}
