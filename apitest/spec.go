package apitest

import (
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// specOf returns the fields of an object whose changes increase the generation. For a built-in
// type, it returns the spec. For a custom resource, it returns everything except metadata and
// status. The result is nil if no field of the type increases the generation.
func specOf(res *resource, obj Object) any {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		if spec := reflect.ValueOf(obj).Elem().FieldByName("Spec"); spec.IsValid() {
			return spec.Interface()
		}
		return nil
	}
	spec := maps.Clone(u.Object)
	delete(spec, "metadata")
	if res.Status {
		delete(spec, "status")
	}
	return spec
}

// equal compares values semantically: nil and empty values are equal.
func equal(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }

// copyStatus copies the status of the second object into the first object. Afterwards, the caller
// must not use the second object.
func copyStatus(to, from Object) {
	u, ok := to.(*unstructured.Unstructured)
	if !ok {
		statusOf(to).Set(statusOf(from))
		return
	}
	if status, ok := from.(*unstructured.Unstructured).Object["status"]; ok {
		u.Object["status"] = status
	} else {
		delete(u.Object, "status")
	}
}

// clearStatus sets the status of an object that a client creates.
func clearStatus(obj Object) {
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		delete(o.Object, "status")
	default:
		statusOf(obj).SetZero()
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

// statusOf returns the status of a built-in type that has a status.
func statusOf(obj Object) reflect.Value { return reflect.ValueOf(obj).Elem().FieldByName("Status") }
