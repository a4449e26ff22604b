package apitest

import corev1 "k8s.io/api/core/v1"

// hasFinalizers reports whether finalizers delay the deletion of an object. A namespace also has
// finalizers in its spec. Only the subresource finalize of a namespace can change these.
func hasFinalizers(obj Object) bool {
	if ns, ok := obj.(*corev1.Namespace); ok && len(ns.Spec.Finalizers) > 0 {
		return true
	}
	return len(obj.GetFinalizers()) > 0
}

// markTerminating marks a namespace whose deletion has begun.
func markTerminating(obj Object) {
	if ns, ok := obj.(*corev1.Namespace); ok {
		ns.Status.Phase = corev1.NamespaceTerminating
	}
}
