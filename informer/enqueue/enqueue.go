package enqueue

import (
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/workqueue"
)

// Queue is the part of a queue that the handlers need. *workqueue.Queue[types.NamespacedName]
// implements it. The goroutine of the handler calls AddWith, which should not block.
type Queue interface {
	AddWith(key types.NamespacedName, opts workqueue.AddOptions)
}

// Object returns a handler that adds the key of each event's object. If the queue is nil, the
// returned handler is nil, which AddHandler refuses. The same holds for Owner and Map.
func Object[T any](queue Queue) func(informer.Event[T]) {
	if queue == nil {
		return nil
	}
	return func(e informer.Event[T]) { queue.AddWith(e.Key, addOptions(e.Cause)) }
}

// Owner returns a handler that adds the key of the object's controlling owner, if the owner is of
// this group and kind. The controlling owner is the owner reference with controller set
// (metav1.GetControllerOf). The version of the owner does not matter. If the owner has changed,
// both owners are enqueued.
//
// The owner is assumed to be in the namespace of the object, where namespaced owners always are.
// For cluster-scoped owners use Map, or controller.Owns, which knows the scope of its owners.
func Owner[T metav1.Object](queue Queue, owner schema.GroupKind) func(informer.Event[T]) {
	if queue == nil {
		return nil
	}
	return func(e informer.Event[T]) {
		name, owned := ownerOf(e.New, owner)
		if owned {
			queue.AddWith(types.NamespacedName{Namespace: e.Key.Namespace, Name: name}, addOptions(e.Cause))
		}
		if e.Type == informer.Added {
			return // There is no Old.
		}
		if former, had := ownerOf(e.Old, owner); had && !(owned && former == name) {
			queue.AddWith(types.NamespacedName{Namespace: e.Key.Namespace, Name: former}, addOptions(e.Cause))
		}
	}
}

// Map returns a handler that adds the keys that the function keys returns for each event. For a
// secret, the function may return the keys of all websites that name the secret, found by an index
// (see the example). If Old and New of an Updated lead to different keys, the function must return
// both. It may return a key twice, and nil means no keys.
func Map[T any](queue Queue, keys func(informer.Event[T]) iter.Seq[types.NamespacedName]) func(informer.Event[T]) {
	if queue == nil || keys == nil {
		return nil
	}
	return func(e informer.Event[T]) {
		found := keys(e)
		if found == nil {
			return
		}
		for key := range found {
			queue.AddWith(key, addOptions(e.Cause))
		}
	}
}

// addOptions returns the options with which to add a key for an event with this cause.
func addOptions(cause informer.Cause) workqueue.AddOptions {
	opts := workqueue.AddOptions{Cause: cause.String()}
	if cause == informer.Initial || cause == informer.Resync {
		opts.Priority = workqueue.LowPriority
	}
	return opts
}

// ownerOf returns the name of an object's controlling owner, if the owner is of this kind.
func ownerOf(object metav1.Object, kind schema.GroupKind) (name string, ok bool) {
	reference := metav1.GetControllerOfNoCopy(object)
	if reference == nil || reference.Kind != kind.Kind {
		return "", false
	}
	version, err := schema.ParseGroupVersion(reference.APIVersion)
	return reference.Name, err == nil && version.Group == kind.Group
}
