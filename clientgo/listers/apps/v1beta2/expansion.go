package v1beta2

import (
	appsv1beta2 "k8s.io/api/apps/v1beta2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/listers/internal/selecting"
)

// DaemonSetListerExpansion has what is special to the kind.
type DaemonSetListerExpansion interface {
	// GetPodDaemonSets returns the objects whose selectors match a pod. There is an error if none does.
	GetPodDaemonSets(pod *corev1.Pod) ([]*appsv1beta2.DaemonSet, error)

	// GetHistoryDaemonSets returns the objects whose selectors match a revision. There is an error if none does.
	GetHistoryDaemonSets(history *appsv1beta2.ControllerRevision) ([]*appsv1beta2.DaemonSet, error)
}

// DaemonSetNamespaceListerExpansion has what is special to the kind in one namespace, which is nothing.
type DaemonSetNamespaceListerExpansion interface{}

// GetPodDaemonSets implements DaemonSetListerExpansion.
func (l *daemonSetLister) GetPodDaemonSets(pod *corev1.Pod) ([]*appsv1beta2.DaemonSet, error) {
	return selecting.Owners("DaemonSets", pod, l.DaemonSets(pod.Namespace).List, func(o *appsv1beta2.DaemonSet) *metav1.LabelSelector { return o.Spec.Selector })
}

// GetHistoryDaemonSets implements DaemonSetListerExpansion.
func (l *daemonSetLister) GetHistoryDaemonSets(history *appsv1beta2.ControllerRevision) ([]*appsv1beta2.DaemonSet, error) {
	return selecting.Owners("DaemonSets", history, l.DaemonSets(history.Namespace).List, func(o *appsv1beta2.DaemonSet) *metav1.LabelSelector { return o.Spec.Selector })
}

// ReplicaSetListerExpansion has what is special to the kind.
type ReplicaSetListerExpansion interface {
	// GetPodReplicaSets returns the objects whose selectors match a pod. There is an error if none does.
	GetPodReplicaSets(pod *corev1.Pod) ([]*appsv1beta2.ReplicaSet, error)
}

// ReplicaSetNamespaceListerExpansion has what is special to the kind in one namespace, which is nothing.
type ReplicaSetNamespaceListerExpansion interface{}

// GetPodReplicaSets implements ReplicaSetListerExpansion.
func (l *replicaSetLister) GetPodReplicaSets(pod *corev1.Pod) ([]*appsv1beta2.ReplicaSet, error) {
	return selecting.Owners("ReplicaSets", pod, l.ReplicaSets(pod.Namespace).List, func(o *appsv1beta2.ReplicaSet) *metav1.LabelSelector { return o.Spec.Selector })
}

// StatefulSetListerExpansion has what is special to the kind.
type StatefulSetListerExpansion interface {
	// GetPodStatefulSets returns the objects whose selectors match a pod. There is an error if none does.
	GetPodStatefulSets(pod *corev1.Pod) ([]*appsv1beta2.StatefulSet, error)
}

// StatefulSetNamespaceListerExpansion has what is special to the kind in one namespace, which is nothing.
type StatefulSetNamespaceListerExpansion interface{}

// GetPodStatefulSets implements StatefulSetListerExpansion.
func (l *statefulSetLister) GetPodStatefulSets(pod *corev1.Pod) ([]*appsv1beta2.StatefulSet, error) {
	return selecting.Owners("StatefulSets", pod, l.StatefulSets(pod.Namespace).List, func(o *appsv1beta2.StatefulSet) *metav1.LabelSelector { return o.Spec.Selector })
}
