package v1beta1

import (
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/listers/internal/selecting"
)

// StatefulSetListerExpansion has the additional methods of this lister.
type StatefulSetListerExpansion interface {
	// GetPodStatefulSets returns the objects whose selectors match a pod. It returns an error if
	// there are none.
	GetPodStatefulSets(pod *corev1.Pod) ([]*appsv1beta1.StatefulSet, error)
}

// StatefulSetNamespaceListerExpansion is empty: this lister has no additional methods.
type StatefulSetNamespaceListerExpansion interface{}

// GetPodStatefulSets implements StatefulSetListerExpansion.
func (l *statefulSetLister) GetPodStatefulSets(pod *corev1.Pod) ([]*appsv1beta1.StatefulSet, error) {
	return selecting.Owners("StatefulSets", pod, l.StatefulSets(pod.Namespace).List, func(o *appsv1beta1.StatefulSet) *metav1.LabelSelector { return o.Spec.Selector })
}
