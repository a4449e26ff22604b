package apitest

import (
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// specOf returns the part of an object that its generation counts the versions
// of: the spec of a built-in type, and all but metadata and status of a custom
// resource. It is nil if there is no such part.
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

// equal compares by meaning: nil and empty are the same.
func equal(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }

// copyStatus makes the status of to that of from, which must not be used any more.
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

// clearStatus gives an object the status that it has when it is created by a
// client.
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

// statusOf returns the status of a built-in type that has one.
func statusOf(obj Object) reflect.Value { return reflect.ValueOf(obj).Elem().FieldByName("Status") }
