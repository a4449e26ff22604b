package predicate

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kinform/kinform/informer"
)

// When returns a handler that passes on only the events for which p is true. If p or handle is nil,
// the returned handler is nil, which AddHandler refuses.
func When[T any](p func(informer.Event[T]) bool, handle func(informer.Event[T])) func(informer.Event[T]) {
	if p == nil || handle == nil {
		return nil
	}
	return func(e informer.Event[T]) {
		if p(e) {
			handle(e)
		}
	}
}

// Any returns a predicate that calls the given predicates in order, and stops at the first that
// returns true. The result is true if one of them returns true. If one of the given predicates is
// nil, Any returns nil.
func Any[T any](of ...func(informer.Event[T]) bool) func(informer.Event[T]) bool {
	if isMissing(of) {
		return nil
	}
	return func(e informer.Event[T]) bool {
		return slices.ContainsFunc(of, func(p func(informer.Event[T]) bool) bool { return p(e) })
	}
}

// All returns a predicate that calls the given predicates in order, and stops at the first that
// returns false. The result is true if all of them return true. If one of the given predicates is
// nil, All returns nil.
func All[T any](of ...func(informer.Event[T]) bool) func(informer.Event[T]) bool {
	if isMissing(of) {
		return nil
	}
	return func(e informer.Event[T]) bool {
		return !slices.ContainsFunc(of, func(p func(informer.Event[T]) bool) bool { return !p(e) })
	}
}

// isMissing reports whether any of the predicates is nil.
func isMissing[T any](of []func(informer.Event[T]) bool) bool {
	return slices.ContainsFunc(of, func(p func(informer.Event[T]) bool) bool { return p == nil })
}

// Not returns a predicate that is true if p is false. If p is nil, Not returns nil.
func Not[T any](p func(informer.Event[T]) bool) func(informer.Event[T]) bool {
	if p == nil {
		return nil
	}
	return func(e informer.Event[T]) bool { return !p(e) }
}

// OfType returns a predicate that is true for events of these types.
func OfType[T any](types ...informer.EventType) func(informer.Event[T]) bool {
	return func(e informer.Event[T]) bool { return slices.Contains(types, e.Type) }
}

// CausedBy returns a predicate that is true for events with these causes.
func CausedBy[T any](causes ...informer.Cause) func(informer.Event[T]) bool {
	return func(e informer.Event[T]) bool { return slices.Contains(causes, e.Cause) }
}

// GenerationChanged drops updates that do not change metadata.generation, such as changes of status
// and of most metadata. The server raises the generation when the specification changes. For some
// resources, it also does so when other fields that controllers act on change. Some resources have
// no generation (ConfigMaps and Secrets, for example): none of their updates pass. A deletion that
// waits for finalizers raises the generation; a change of finalizers or owners does not.
func GenerationChanged[T metav1.Object](e informer.Event[T]) bool {
	return isOther(e) || e.Restored || wentBack(e) || e.Old.GetGeneration() != e.New.GetGeneration()
}

// ResourceVersionChanged drops only resyncs.
func ResourceVersionChanged[T metav1.Object](e informer.Event[T]) bool {
	return isOther(e) || e.Restored || wentBack(e) || e.Old.GetResourceVersion() != e.New.GetResourceVersion()
}

// LabelsChanged drops updates that don't change the labels.
func LabelsChanged[T metav1.Object](e informer.Event[T]) bool {
	return isOther(e) || !maps.Equal(e.Old.GetLabels(), e.New.GetLabels())
}

// AnnotationsChanged drops updates that don't change the annotations.
func AnnotationsChanged[T metav1.Object](e informer.Event[T]) bool {
	return isOther(e) || !maps.Equal(e.Old.GetAnnotations(), e.New.GetAnnotations())
}

// Changed drops updates that don't change a part of the object, such as a field, or a value
// computed from it.
//
//	predicate.Changed(func(pod *corev1.Pod) corev1.PodPhase { return pod.Status.Phase })
func Changed[T any, V comparable](part func(T) V) func(informer.Event[T]) bool {
	return func(e informer.Event[T]) bool {
		return isOther(e) || part(e.Old) != part(e.New)
	}
}

// isOther reports whether an event is more than a change of one object: the object was added or
// deleted, or New and Old have different UIDs. An informer reports another UID as Deleted and
// Added. But a custom Source may set no UIDs (listwatch.Item.UIDHash), and a handler's wrapper may
// combine two events.
func isOther[T any](e informer.Event[T]) bool {
	if e.Type != informer.Updated {
		return true
	}
	before, ok := any(e.Old).(metav1.Object)
	after, also := any(e.New).(metav1.Object)
	if !ok || !also {
		return false
	}
	was, is := before.GetUID(), after.GetUID()
	return was != is && was != "" && is != ""
}

// wentBack reports whether a relist found an object in a version that is no newer than the known
// version. The server then has another history. This is not always detected (see
// informer.Event.Restored), for instance in one part of a merged source.
func wentBack[T metav1.Object](e informer.Event[T]) bool {
	order, err := resourceversion.CompareResourceVersion(e.New.GetResourceVersion(), e.Old.GetResourceVersion())
	return e.Cause == informer.Relist && err == nil && order <= 0
}
