package apiobject

import (
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Spec returns the fields of an object whose changes increase the generation. For a built-in type,
// it returns the spec. For a custom resource, it returns everything except metadata and, if the
// resource has the status subresource, status. The result is nil if no field of the type increases
// the generation.
func Spec(obj Object, hasStatus bool) any {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		if spec := reflect.ValueOf(obj).Elem().FieldByName("Spec"); spec.IsValid() {
			return spec.Interface()
		}
		return nil
	}
	spec := maps.Clone(u.Object)
	delete(spec, "metadata")
	if hasStatus {
		delete(spec, "status")
	}
	return spec
}

// CopyStatus copies the status of the second object into the first object. Afterwards, the caller
// must not use the second object.
func CopyStatus(to, from Object) {
	u, ok := to.(*unstructured.Unstructured)
	if !ok {
		Status(to).Set(Status(from))
		return
	}
	if status, ok := from.(*unstructured.Unstructured).Object["status"]; ok {
		u.Object["status"] = status
	} else {
		delete(u.Object, "status")
	}
}

// ClearStatus sets the status of an object that a client creates.
func ClearStatus(obj Object) {
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		delete(o.Object, "status")
	default:
		Status(obj).SetZero()
	}
	switch o := obj.(type) {
	case *corev1.Pod:
		o.Status.Phase = corev1.PodPending
	case *corev1.Namespace:
		o.Status.Phase = corev1.NamespaceActive
	case *corev1.PersistentVolume:
		o.Status.Phase = corev1.VolumePending
	case *corev1.PersistentVolumeClaim:
		o.Status.Phase = corev1.ClaimPending
	}
}

// Status returns the status of a built-in type that has a status.
func Status(obj Object) reflect.Value { return reflect.ValueOf(obj).Elem().FieldByName("Status") }

// Deref returns *p. If p is nil, it returns the second argument.
func Deref[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// Equal compares values semantically: nil and empty values are equal.
func Equal(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }
