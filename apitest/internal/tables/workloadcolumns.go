package tables

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

func addWorkloadColumns(p printers) {
	addColumns(p, "Name|#Desired|#Current|#Ready|Age|+Containers|+Images|+Selector", func(r *corev1.ReplicationController) []any {
		var spec corev1.PodSpec
		if r.Spec.Template != nil {
			spec = r.Spec.Template.Spec
		}
		names, images := containerCells(spec)
		return []any{r.Name, apiobject.Deref(r.Spec.Replicas, 1), r.Status.Replicas, r.Status.ReadyReplicas, age(r.CreationTimestamp), names, images, labelText(r.Spec.Selector)}
	})
	addColumns(p, "Name|#Desired|#Current|#Ready|Age|+Containers|+Images|+Selector", func(r *appsv1.ReplicaSet) []any {
		names, images := containerCells(r.Spec.Template.Spec)
		return []any{r.Name, apiobject.Deref(r.Spec.Replicas, 1), r.Status.Replicas, r.Status.ReadyReplicas, age(r.CreationTimestamp), names, images, selectorText(r.Spec.Selector)}
	})
	addColumns(p, "Name|#Desired|#Current|#Ready|#Up-to-date|#Available|Node Selector|Age|+Containers|+Images|+Selector", func(d *appsv1.DaemonSet) []any {
		names, images := containerCells(d.Spec.Template.Spec)
		return []any{d.Name, d.Status.DesiredNumberScheduled, d.Status.CurrentNumberScheduled, d.Status.NumberReady, d.Status.UpdatedNumberScheduled,
			d.Status.NumberAvailable, labelText(d.Spec.Template.Spec.NodeSelector), age(d.CreationTimestamp), names, images, selectorText(d.Spec.Selector)}
	})
	addColumns(p, "Name|Ready|#Up-to-date|#Available|Age|+Containers|+Images|+Selector", func(d *appsv1.Deployment) []any {
		names, images := containerCells(d.Spec.Template.Spec)
		return []any{d.Name, fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, apiobject.Deref(d.Spec.Replicas, 1)), d.Status.UpdatedReplicas,
			d.Status.AvailableReplicas, age(d.CreationTimestamp), names, images, selectorText(d.Spec.Selector)}
	})
	addColumns(p, "Name|Ready|Age|+Containers|+Images", func(s *appsv1.StatefulSet) []any {
		names, images := containerCells(s.Spec.Template.Spec)
		return []any{s.Name, fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, apiobject.Deref(s.Spec.Replicas, 1)), age(s.CreationTimestamp), names, images}
	})
	addColumns(p, "Name|Controller|Revision|Age", func(r *appsv1.ControllerRevision) []any {
		controller := "<none>"
		if ref := metav1.GetControllerOfNoCopy(r); ref != nil {
			controller = strings.ToLower(ref.Kind)
			if group, _, ok := strings.Cut(ref.APIVersion, "/"); ok {
				controller += "." + group
			}
			controller += "/" + ref.Name
		}
		return []any{r.Name, controller, r.Revision, age(r.CreationTimestamp)}
	})
	addColumns(p, "Name|Status|Completions|Duration|Age|+Containers|+Images|+Selector", jobCells)
	addColumns(p, "Name|Schedule|Timezone|?Suspend|#Active|Last Schedule|Age|+Containers|+Images|+Selector", func(c *batchv1.CronJob) []any {
		names, images := containerCells(c.Spec.JobTemplate.Spec.Template.Spec)
		last := "<none>"
		if c.Status.LastScheduleTime != nil {
			last = age(*c.Status.LastScheduleTime)
		}
		suspend := "False"
		if apiobject.Deref(c.Spec.Suspend, false) {
			suspend = "True"
		}
		return []any{c.Name, c.Spec.Schedule, apiobject.Deref(c.Spec.TimeZone, "<none>"), suspend, len(c.Status.Active), last,
			age(c.CreationTimestamp), names, images, selectorText(c.Spec.JobTemplate.Spec.Selector)}
	})
	const scalers = "Name|Reference|Targets|MinPods|MaxPods|Replicas|Age"
	addColumns(p, scalers, func(h *autoscalingv2.HorizontalPodAutoscaler) []any {
		return []any{h.Name, h.Spec.ScaleTargetRef.Kind + "/" + h.Spec.ScaleTargetRef.Name, targetText(h),
			replicaText(h.Spec.MinReplicas), h.Spec.MaxReplicas, h.Status.CurrentReplicas, age(h.CreationTimestamp)}
	})
	addColumns(p, scalers, func(h *autoscalingv1.HorizontalPodAutoscaler) []any {
		targets := "<none>"
		if h.Spec.TargetCPUUtilizationPercentage != nil {
			targets = fmt.Sprintf("cpu: %s/%d%%", percentText(h.Status.CurrentCPUUtilizationPercentage), *h.Spec.TargetCPUUtilizationPercentage)
		}
		return []any{h.Name, h.Spec.ScaleTargetRef.Kind + "/" + h.Spec.ScaleTargetRef.Name, targets,
			replicaText(h.Spec.MinReplicas), h.Spec.MaxReplicas, h.Status.CurrentReplicas, age(h.CreationTimestamp)}
	})
}
