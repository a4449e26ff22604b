package admission

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// AddEphemeralContainers adds the ephemeral containers of the argument sent to a pod. A write must
// not remove or change existing ephemeral containers.
func AddEphemeralContainers(pod, sent *corev1.Pod) error {
	at := field.NewPath("spec", "ephemeralContainers")
	var errs field.ErrorList
	for _, has := range pod.Spec.EphemeralContainers {
		i := slices.IndexFunc(sent.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool { return c.Name == has.Name })
		switch {
		case i < 0:
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", has.Name)))
		case !apiobject.Equal(sent.Spec.EphemeralContainers[i], has):
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("existing ephemeral containers %q may not be changed\n", has.Name)))
		}
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), pod.Name, errs)
	}
	pod.Spec.EphemeralContainers = sent.Spec.EphemeralContainers
	return nil
}
