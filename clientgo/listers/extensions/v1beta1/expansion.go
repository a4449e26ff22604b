package v1beta1

import (
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/listers/internal/selecting"
)

// DaemonSetListerExpansion has the additional methods of this lister.
type DaemonSetListerExpansion interface {
	// GetPodDaemonSets returns the objects whose selectors match a pod. It returns an error if
	// there are none.
	GetPodDaemonSets(pod *corev1.Pod) ([]*extensionsv1beta1.DaemonSet, error)

	// GetHistoryDaemonSets returns the objects whose selectors match a revision. It returns an
	// error if there are none.
	GetHistoryDaemonSets(history *appsv1beta1.ControllerRevision) ([]*extensionsv1beta1.DaemonSet, error)
}

// DaemonSetNamespaceListerExpansion is empty: this lister has no additional methods.
type DaemonSetNamespaceListerExpansion interface{}

// GetPodDaemonSets implements DaemonSetListerExpansion.
func (l *daemonSetLister) GetPodDaemonSets(pod *corev1.Pod) ([]*extensionsv1beta1.DaemonSet, error) {
	return selecting.Owners("DaemonSets", pod, l.DaemonSets(pod.Namespace).List, func(o *extensionsv1beta1.DaemonSet) *metav1.LabelSelector { return o.Spec.Selector })
}

// GetHistoryDaemonSets implements DaemonSetListerExpansion.
func (l *daemonSetLister) GetHistoryDaemonSets(history *appsv1beta1.ControllerRevision) ([]*extensionsv1beta1.DaemonSet, error) {
	return selecting.Owners("DaemonSets", history, l.DaemonSets(history.Namespace).List, func(o *extensionsv1beta1.DaemonSet) *metav1.LabelSelector { return o.Spec.Selector })
}

// ReplicaSetListerExpansion has the additional methods of this lister.
type ReplicaSetListerExpansion interface {
	// GetPodReplicaSets returns the objects whose selectors match a pod. It returns an error if
	// there are none.
	GetPodReplicaSets(pod *corev1.Pod) ([]*extensionsv1beta1.ReplicaSet, error)
}

// ReplicaSetNamespaceListerExpansion is empty: this lister has no additional methods.
type ReplicaSetNamespaceListerExpansion interface{}

// GetPodReplicaSets implements ReplicaSetListerExpansion.
func (l *replicaSetLister) GetPodReplicaSets(pod *corev1.Pod) ([]*extensionsv1beta1.ReplicaSet, error) {
	return selecting.Owners("ReplicaSets", pod, l.ReplicaSets(pod.Namespace).List, func(o *extensionsv1beta1.ReplicaSet) *metav1.LabelSelector { return o.Spec.Selector })
}
