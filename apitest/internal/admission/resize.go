package admission

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// Resize copies the resources of containers from the argument sent to a pod. Only CPU and memory
// may change. A write must not remove a request or a limit, and the pod must stay in its QoS class.
func Resize(pod, sent *corev1.Pod) error {
	spec := field.NewPath("spec")
	class := qosClass(pod)
	errs := append(resizeAll(pod.Spec.InitContainers, sent.Spec.InitContainers, spec.Child("initContainers")),
		resizeAll(pod.Spec.Containers, sent.Spec.Containers, spec.Child("containers"))...)
	if class != qosClass(sent) {
		changed := field.Invalid(spec, class, "Pod QOS Class may not change as a result of resizing")
		errs = append(field.ErrorList{changed}, errs...)
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), pod.Name, errs)
	}
	return nil
}

// resizeAll resizes containers. Both lists must have the same containers in the same order.
func resizeAll(containers, sent []corev1.Container, at *field.Path) (errs field.ErrorList) {
	if len(containers) != len(sent) {
		name := "containers"
		if at.String() != "spec.containers" {
			name = "initContainers"
		}
		return field.ErrorList{field.Forbidden(at, name+" may not be added or removed on resize")}
	}
	for i := range containers {
		c, to := &containers[i], &sent[i]
		at := at.Index(i)
		if c.Name != to.Name {
			errs = append(errs, field.Forbidden(at.Child("name"), "containers may not be renamed or reordered on resize"))
			continue
		}
		errs = append(errs, checkResize(c.Resources, to.Resources, at.Child("resources"))...)
		c.Resources, c.ResizePolicy = to.Resources, to.ResizePolicy
	}
	return errs
}

// checkResize returns errors if a container cannot get these resources.
func checkResize(was, is corev1.ResourceRequirements, at *field.Path) (errs field.ErrorList) {
	if hasRemoved(was.Requests, is.Requests) {
		errs = append(errs, field.Forbidden(at.Child("requests"), "resource requests cannot be removed"))
	}
	if hasRemoved(was.Limits, is.Limits) {
		errs = append(errs, field.Forbidden(at.Child("limits"), "resource limits cannot be removed"))
	}
	if !apiobject.Equal(withoutCPUAndMemory(was.Requests), withoutCPUAndMemory(is.Requests)) || !apiobject.Equal(withoutCPUAndMemory(was.Limits), withoutCPUAndMemory(is.Limits)) {
		errs = append(errs, field.Forbidden(field.NewPath("spec"), "only cpu and memory resources are mutable"))
	}
	return errs
}

func hasRemoved(was, is corev1.ResourceList) bool {
	for name := range was {
		if _, still := is[name]; !still {
			return true
		}
	}
	return false
}

// withoutCPUAndMemory returns the resources except CPU and memory.
func withoutCPUAndMemory(list corev1.ResourceList) corev1.ResourceList {
	list = maps.Clone(list)
	delete(list, corev1.ResourceCPU)
	delete(list, corev1.ResourceMemory)
	return list
}

// qosClass returns the QoS class of a pod.
func qosClass(pod *corev1.Pod) corev1.PodQOSClass {
	some, guaranteed := false, true
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, c := range containers {
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				limit, limited := c.Resources.Limits[name]
				request, requested := c.Resources.Requests[name]
				some = some || limited || requested
				guaranteed = guaranteed && limited && (!requested || request.Cmp(limit) == 0)
			}
		}
	}
	switch {
	case !some:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}
