package predicate

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kinform/kinform/informer"
)

// When returns a handler that passes on only the events for which p is true. Where p or
// handle is nil, so is the handler, which AddHandler refuses.
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

// Any is true if one of several is; they are asked in order, until one is. It is nil if
// one of them is.
func Any[T any](of ...func(informer.Event[T]) bool) func(informer.Event[T]) bool {
	if isMissing(of) {
		return nil
	}
	return func(e informer.Event[T]) bool {
		return slices.ContainsFunc(of, func(p func(informer.Event[T]) bool) bool { return p(e) })
	}
}

// All is true if each of several is; they are asked in order, until one is not. It is nil
// if one of them is.
func All[T any](of ...func(informer.Event[T]) bool) func(informer.Event[T]) bool {
	if isMissing(of) {
		return nil
	}
	return func(e informer.Event[T]) bool {
		return !slices.ContainsFunc(of, func(p func(informer.Event[T]) bool) bool { return !p(e) })
	}
}

// isMissing reports whether one of several predicates is nil.
func isMissing[T any](of []func(informer.Event[T]) bool) bool {
	return slices.ContainsFunc(of, func(p func(informer.Event[T]) bool) bool { return p == nil })
}

// Not is true if p is not. It is nil if p is.
func Not[T any](p func(informer.Event[T]) bool) func(informer.Event[T]) bool {
	if p == nil {
		return nil
	}
	return func(e informer.Event[T]) bool { return !p(e) }
}

// OfType is true of events of these types.
func OfType[T any](types ...informer.EventType) func(informer.Event[T]) bool {
	return func(e informer.Event[T]) bool { return slices.Contains(types, e.Type) }
}

// Because is true of events with these causes.
func Because[T any](causes ...informer.Cause) func(informer.Event[T]) bool {
	return func(e informer.Event[T]) bool { return slices.Contains(causes, e.Cause) }
}

// GenerationChanged leaves out updates that change neither the specification nor,
// where the resource counts them so, anything else that its controllers are to act
// upon: those of a status or of metadata. There are resources without a generation
// (ConfigMaps and Secrets, for example): no update of theirs passes. A deletion that
// waits for finalizers raises the generation; a finalizer or an owner does not.
func GenerationChanged[T metav1.Object](e informer.Event[T]) bool {
	return isOther(e) || e.Restored || wentBack(e) || e.Old.GetGeneration() != e.New.GetGeneration()
}

// ResourceVersionChanged leaves out resyncs and nothing else.
func ResourceVersionChanged[T metav1.Object](e informer.Event[T]) bool {
	return isOther(e) || e.Restored || wentBack(e) || e.Old.GetResourceVersion() != e.New.GetResourceVersion()
}

// LabelsChanged leaves out updates that don't change the labels.
func LabelsChanged[T metav1.Object](e informer.Event[T]) bool {
	return isOther(e) || !maps.Equal(e.Old.GetLabels(), e.New.GetLabels())
}

// AnnotationsChanged leaves out updates that don't change the annotations.
func AnnotationsChanged[T metav1.Object](e informer.Event[T]) bool {
	return isOther(e) || !maps.Equal(e.Old.GetAnnotations(), e.New.GetAnnotations())
}

// Changed leaves out updates that don't change a part of the object, or something
// computed from it: a field, a condition, a number.
//
//	predicate.Changed(func(pod *corev1.Pod) corev1.PodPhase { return pod.Status.Phase })
func Changed[T any, V comparable](part func(T) V) func(informer.Event[T]) bool {
	return func(e informer.Event[T]) bool {
		return isOther(e) || part(e.Old) != part(e.New)
	}
}

// isOther reports whether an event is of more than a change of one object: one came, or
// went, or the UIDs say that New is not what Old was. An informer tells of that as
// Deleted and Added, but a Source of one's own may not tell UIDs
// (listwatch.Item.UIDHash), and a handler's wrapper may make one event of two.
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

// wentBack reports whether a relist found an object in a version that is no newer than
// the known one: the server has another history, which is not always noticed as such (see
// informer.Event.Restored), as where it is one of several that are merged.
func wentBack[T metav1.Object](e informer.Event[T]) bool {
	order, err := resourceversion.CompareResourceVersion(e.New.GetResourceVersion(), e.Old.GetResourceVersion())
	return e.Cause == informer.Relist && err == nil && order <= 0
}
