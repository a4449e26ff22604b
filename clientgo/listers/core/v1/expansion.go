package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/listers/internal/selecting"
)

// ReplicationControllerListerExpansion has the additional methods of this lister.
type ReplicationControllerListerExpansion interface {
	// GetPodControllers returns the controllers whose selectors match a pod. It returns an error if
	// there are none.
	GetPodControllers(pod *corev1.Pod) ([]*corev1.ReplicationController, error)
}

// ReplicationControllerNamespaceListerExpansion is empty: this lister has no additional methods.
type ReplicationControllerNamespaceListerExpansion interface{}

// GetPodControllers implements ReplicationControllerListerExpansion.
func (l *replicationControllerLister) GetPodControllers(pod *corev1.Pod) ([]*corev1.ReplicationController, error) {
	return selecting.Owners("ReplicationControllers", pod, l.ReplicationControllers(pod.Namespace).List, func(o *corev1.ReplicationController) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: o.Spec.Selector}
	})
}
