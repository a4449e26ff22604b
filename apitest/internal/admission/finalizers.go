package admission

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// HasFinalizers reports whether finalizers delay the deletion of an object. A namespace also has
// finalizers in its spec. Only the subresource finalize of a namespace can change these.
func HasFinalizers(obj apiobject.Object) bool {
	if ns, ok := obj.(*corev1.Namespace); ok && len(ns.Spec.Finalizers) > 0 {
		return true
	}
	return len(obj.GetFinalizers()) > 0
}

// MarkTerminating marks a namespace whose deletion has begun.
func MarkTerminating(obj apiobject.Object) {
	if ns, ok := obj.(*corev1.Namespace); ok {
		ns.Status.Phase = corev1.NamespaceTerminating
	}
}

// AddedFinalizers returns the finalizers that obj adds to cur while cur is being deleted.
func AddedFinalizers(cur, obj apiobject.Object) (added []string) {
	if cur.GetDeletionTimestamp() == nil {
		return nil
	}
	for _, finalizer := range obj.GetFinalizers() {
		if !slices.Contains(cur.GetFinalizers(), finalizer) {
			added = append(added, finalizer)
		}
	}
	return added
}
