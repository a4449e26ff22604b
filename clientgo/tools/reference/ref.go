// Package reference makes references to objects.
package reference

import (
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ErrNilObject is the error of GetReference for nil.
var ErrNilObject = errors.New("can't reference a nil object")

// GetReference returns a reference to the object. If the object is a reference already,
// GetReference returns it. If the object lacks kind and version, the scheme must know its type. A
// reference to a list has only a kind, a version and a resource version.
func GetReference(scheme *runtime.Scheme, obj runtime.Object) (*v1.ObjectReference, error) {
	if obj == nil {
		return nil, ErrNilObject
	}
	if ref, ok := obj.(*v1.ObjectReference); ok {
		return ref, nil
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		if scheme == nil {
			return nil, errors.New("scheme is required to look up gvk")
		}
		known, _, err := scheme.ObjectKinds(obj)
		if err != nil {
			return nil, err
		}
		gvk = known[0]
	}
	ref := &v1.ObjectReference{Kind: gvk.Kind, APIVersion: gvk.GroupVersion().String()}
	common, err := meta.CommonAccessor(obj)
	if err != nil {
		return nil, fmt.Errorf("can't reference a %T: %w", obj, err)
	}
	ref.ResourceVersion = common.GetResourceVersion()
	if object, ok := common.(metav1.Object); ok {
		ref.Namespace, ref.Name, ref.UID = object.GetNamespace(), object.GetName(), object.GetUID()
	}
	return ref, nil
}

// GetPartialReference is GetReference for a part of an object, such as spec.containers{name}.
func GetPartialReference(scheme *runtime.Scheme, obj runtime.Object, fieldPath string) (*v1.ObjectReference, error) {
	whole, err := GetReference(scheme, obj)
	if err == nil {
		whole.FieldPath = fieldPath
	}
	return whole, err
}
