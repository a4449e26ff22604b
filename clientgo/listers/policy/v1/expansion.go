package v1

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/listers/internal/selecting"
)

// PodDisruptionBudgetListerExpansion has the additional methods of this lister.
type PodDisruptionBudgetListerExpansion interface {
	// GetPodPodDisruptionBudgets returns the objects whose selectors match a pod. It returns an
	// error if there are none.
	GetPodPodDisruptionBudgets(pod *corev1.Pod) ([]*policyv1.PodDisruptionBudget, error)
}

// PodDisruptionBudgetNamespaceListerExpansion is empty: this lister has no additional methods.
type PodDisruptionBudgetNamespaceListerExpansion interface{}

// GetPodPodDisruptionBudgets implements PodDisruptionBudgetListerExpansion.
func (l *podDisruptionBudgetLister) GetPodPodDisruptionBudgets(pod *corev1.Pod) ([]*policyv1.PodDisruptionBudget, error) {
	return selecting.OwnersOrAll("PodDisruptionBudgets", pod, l.PodDisruptionBudgets(pod.Namespace).List, func(o *policyv1.PodDisruptionBudget) *metav1.LabelSelector { return o.Spec.Selector })
}
