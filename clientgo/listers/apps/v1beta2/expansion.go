package v1beta2

import (
	appsv1beta2 "k8s.io/api/apps/v1beta2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/listers/internal/selecting"
)

// DaemonSetListerExpansion has the additional methods of this lister.
type DaemonSetListerExpansion interface {
	// GetPodDaemonSets returns the objects whose selectors match a pod. It returns an error if
	// there are none.
	GetPodDaemonSets(pod *corev1.Pod) ([]*appsv1beta2.DaemonSet, error)

	// GetHistoryDaemonSets returns the objects whose selectors match a revision. It returns an
	// error if there are none.
	GetHistoryDaemonSets(history *appsv1beta2.ControllerRevision) ([]*appsv1beta2.DaemonSet, error)
}

// DaemonSetNamespaceListerExpansion is empty: this lister has no additional methods.
type DaemonSetNamespaceListerExpansion interface{}

// GetPodDaemonSets implements DaemonSetListerExpansion.
func (l *daemonSetLister) GetPodDaemonSets(pod *corev1.Pod) ([]*appsv1beta2.DaemonSet, error) {
	return selecting.Owners("DaemonSets", pod, l.DaemonSets(pod.Namespace).List, func(o *appsv1beta2.DaemonSet) *metav1.LabelSelector { return o.Spec.Selector })
}

// GetHistoryDaemonSets implements DaemonSetListerExpansion.
func (l *daemonSetLister) GetHistoryDaemonSets(history *appsv1beta2.ControllerRevision) ([]*appsv1beta2.DaemonSet, error) {
	return selecting.Owners("DaemonSets", history, l.DaemonSets(history.Namespace).List, func(o *appsv1beta2.DaemonSet) *metav1.LabelSelector { return o.Spec.Selector })
}

// ReplicaSetListerExpansion has the additional methods of this lister.
type ReplicaSetListerExpansion interface {
	// GetPodReplicaSets returns the objects whose selectors match a pod. It returns an error if
	// there are none.
	GetPodReplicaSets(pod *corev1.Pod) ([]*appsv1beta2.ReplicaSet, error)
}

// ReplicaSetNamespaceListerExpansion is empty: this lister has no additional methods.
type ReplicaSetNamespaceListerExpansion interface{}

// GetPodReplicaSets implements ReplicaSetListerExpansion.
func (l *replicaSetLister) GetPodReplicaSets(pod *corev1.Pod) ([]*appsv1beta2.ReplicaSet, error) {
	return selecting.Owners("ReplicaSets", pod, l.ReplicaSets(pod.Namespace).List, func(o *appsv1beta2.ReplicaSet) *metav1.LabelSelector { return o.Spec.Selector })
}

// StatefulSetListerExpansion has the additional methods of this lister.
type StatefulSetListerExpansion interface {
	// GetPodStatefulSets returns the objects whose selectors match a pod. It returns an error if
	// there are none.
	GetPodStatefulSets(pod *corev1.Pod) ([]*appsv1beta2.StatefulSet, error)
}

// StatefulSetNamespaceListerExpansion is empty: this lister has no additional methods.
type StatefulSetNamespaceListerExpansion interface{}

// GetPodStatefulSets implements StatefulSetListerExpansion.
func (l *statefulSetLister) GetPodStatefulSets(pod *corev1.Pod) ([]*appsv1beta2.StatefulSet, error) {
	return selecting.Owners("StatefulSets", pod, l.StatefulSets(pod.Namespace).List, func(o *appsv1beta2.StatefulSet) *metav1.LabelSelector { return o.Spec.Selector })
}
