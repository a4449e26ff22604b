package events

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/rest"
)

// maxReference limits each text of a reference, in bytes: an API server accepts no longer name.
const maxReference = 253

// reference returns a reference to an object. ok is false if the object is nil, if its methods
// panic, or if its kind is unknown.
func (r *Recorder) reference(object metav1.Object) (ref corev1.ObjectReference, ok bool) {
	if object == nil {
		return ref, false
	}
	value := reflect.ValueOf(object)
	if value.Kind() == reflect.Pointer && value.IsNil() {
		return ref, false
	}
	defer func() {
		if recover() != nil { // in a method of the user's type
			ok = false
		}
	}()
	kind, known := r.kindOf(value.Type())
	if !known {
		// An assertion to runtime.Object would require too much: a struct that embeds TypeMeta need
		// not have DeepCopyObject.
		if typed, has := object.(interface{ GetObjectKind() schema.ObjectKind }); has {
			kind = typed.GetObjectKind().GroupVersionKind()
		}
	}
	ref = corev1.ObjectReference{
		Kind: kind.Kind, APIVersion: kind.GroupVersion().String(), Namespace: object.GetNamespace(), Name: object.GetName(),
		UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
	}
	return ref, true
}

// kindOf returns the kind of a built-in type. It caches the result for each Go type.
func (r *Recorder) kindOf(t reflect.Type) (schema.GroupVersionKind, bool) {
	if kind, ok := r.kinds.Load(t); ok {
		kind := kind.(schema.GroupVersionKind)
		return kind, kind.Kind != ""
	}
	kind, ok := rest.BuiltinKind(t)
	r.kinds.Store(t, kind)
	return kind, ok
}

// validReference reports whether a reference has its required fields, and is within the limits.
func validReference(ref *corev1.ObjectReference) bool {
	for _, part := range []string{ref.Kind, ref.APIVersion, ref.Namespace, ref.Name, string(ref.UID), ref.ResourceVersion} {
		if len(part) > maxReference {
			return false
		}
	}
	ref.FieldPath = limitText(ref.FieldPath, maxNote)
	return ref.Kind != "" && ref.Name != ""
}

// namespaceOf returns the namespace of an Event about an object.
func namespaceOf(ref *corev1.ObjectReference) string {
	if ref.Namespace == "" {
		return metav1.NamespaceDefault
	}
	return ref.Namespace
}
