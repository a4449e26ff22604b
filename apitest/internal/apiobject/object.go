package apiobject

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Object is an object that the server stores: a pointer to a built-in type, or an
// *unstructured.Unstructured for a custom resource.
type Object interface {
	runtime.Object
	metav1.Object
}

// Key returns the namespace and the name of an object.
func Key(obj Object) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// Now returns the current time in whole seconds, which is the precision of times in objects.
func Now() metav1.Time { return metav1.NewTime(time.Now().Truncate(time.Second)) }
