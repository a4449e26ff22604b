package apitest

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
)

// maxDisrupted is the maximum number of evictions that the controller of a budget has not processed
// yet.
const maxDisrupted = 2000

// budgetsOf returns the disruption budgets that select a pod.
func (s *Server) budgetsOf(pod *corev1.Pod) (all []*storage.Revision) {
	stored, _ := s.store.Snapshot(s.builtinOf(&policyv1.PodDisruptionBudget{}))
	for rev := range stored.InNamespace(pod.Namespace) {
		selector, err := metav1.LabelSelectorAsSelector(rev.Object().(*policyv1.PodDisruptionBudget).Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			all = append(all, rev)
		}
	}
	return all
}

// spendBudget takes one disruption from the budget of a pod. If that is not possible, it returns an
// error with the reason. It takes nothing if the pod has no budget, or if the pod is unhealthy and
// the budget allows the eviction of unhealthy pods.
func (s *Server) spendBudget(pod *corev1.Pod, dryRun bool) (spent bool, err error) {
	budgets := s.budgetsOf(pod)
	switch len(budgets) {
	case 0:
		return true, nil
	case 1:
	default:
		return false, wire.NewStatusError(500, "", "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
	}
	budget := budgets[0].Object().(*policyv1.PodDisruptionBudget)
	if !isReady(pod) && allowsUnhealthyEviction(budget) {
		return false, nil
	}
	_, err = s.modify(budgets[0].Res, budgets[0].Key, dryRun, func(old *storage.Revision) (Object, error) {
		budget := old.Object().(*policyv1.PodDisruptionBudget)
		if err := checkDisruptionAllowed(budget); err != nil {
			return nil, err
		}
		status := &budget.Status
		status.DisruptionsAllowed--
		if status.DisruptionsAllowed == 0 {
			meta.SetStatusCondition(&status.Conditions, metav1.Condition{
				Type: policyv1.DisruptionAllowedCondition, Reason: policyv1.InsufficientPodsReason, Status: metav1.ConditionFalse,
				ObservedGeneration: status.ObservedGeneration, LastTransitionTime: apiobject.Now(),
			})
		}
		if status.DisruptedPods == nil {
			status.DisruptedPods = map[string]metav1.Time{}
		}
		status.DisruptedPods[pod.Name] = apiobject.Now()
		return budget, nil
	})
	return err == nil, err
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// allowsUnhealthyEviction reports whether a pod that is not ready may be evicted without a
// disruption.
func allowsUnhealthyEviction(budget *policyv1.PodDisruptionBudget) bool {
	return apiobject.Deref(budget.Spec.UnhealthyPodEvictionPolicy, policyv1.IfHealthyBudget) == policyv1.AlwaysAllow ||
		budget.Status.DesiredHealthy > 0 && budget.Status.CurrentHealthy >= budget.Status.DesiredHealthy
}

// checkDisruptionAllowed returns why a budget allows no disruption, or nil.
func checkDisruptionAllowed(budget *policyv1.PodDisruptionBudget) error {
	status := budget.Status
	forbidden := func(why string) error {
		return apierrors.NewForbidden(schema.GroupResource{Group: policyv1.GroupName, Resource: "poddisruptionbudget"}, budget.Name, fmt.Errorf("%s", why))
	}
	switch {
	case status.ObservedGeneration < budget.Generation:
		return tooManyEvictions(fmt.Sprintf("The disruption budget %s is still being processed by the server.", budget.Name), 10)
	case status.DisruptionsAllowed < 0:
		return forbidden("pdb disruptions allowed is negative")
	case len(status.DisruptedPods) > maxDisrupted:
		return forbidden("DisruptedPods map too big - too many evictions not confirmed by PDB controller")
	case status.DisruptionsAllowed > 0:
		return nil
	}
	why := fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", budget.Name)
	c := meta.FindStatusCondition(status.Conditions, policyv1.DisruptionAllowedCondition)
	explained := c != nil && c.Status == metav1.ConditionFalse && c.Message != ""
	switch {
	case explained && c.Reason == policyv1.SyncFailedReason:
		why += " because it failed sync: " + c.Message
	case status.CurrentHealthy <= status.DesiredHealthy:
		why = fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", budget.Name, status.DesiredHealthy, status.CurrentHealthy)
	case explained:
		why += fmt.Sprintf(" (%s): %s", c.Reason, c.Message)
	}
	return tooManyEvictions(why, 0)
}

func tooManyEvictions(why string, retryAfter int) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retryAfter)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: why}}
	return err
}
