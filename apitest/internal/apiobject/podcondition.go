package apiobject

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// SetPodCondition sets a condition. It sets the condition's time if the status changes.
func SetPodCondition(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus, reason string) {
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		i = len(pod.Status.Conditions)
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind})
	}
	c := &pod.Status.Conditions[i]
	if c.Status != status {
		c.LastTransitionTime = Now()
	}
	c.Status, c.Reason = status, reason
}

// HasPodCondition reports whether a condition of a pod is true.
func HasPodCondition(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
}
