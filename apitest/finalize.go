package apitest

import corev1 "k8s.io/api/core/v1"

// finalized says whether finalizers hold an object that is to be deleted. A namespace has
// some in its spec as well, which are written by its subresource finalize alone.
func finalized(obj Object) bool {
	if ns, ok := obj.(*corev1.Namespace); ok && len(ns.Spec.Finalizers) > 0 {
		return true
	}
	return len(obj.GetFinalizers()) > 0
}

// terminate marks a namespace whose deletion has begun.
func terminate(obj Object) {
	if ns, ok := obj.(*corev1.Namespace); ok {
		ns.Status.Phase = corev1.NamespaceTerminating
	}
}
