package apitest

import (
	"cmp"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// bind assigns a node to a pod that has no node.
func (s *Server) bind(req *Request, obj Object) (Object, error) {
	binding := obj.(*corev1.Binding)
	name := cmp.Or(req.Name, binding.Name) // a Binding posted to bindings has its pod's name
	if binding.Name != name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Binding object")
	}
	if errs := validateBinding(binding); len(errs) > 0 {
		return nil, errs.ToAggregate() // The code is 500, as on the real server.
	}
	pods := s.builtinOf(&corev1.Pod{})
	_, err := s.modifyUnchecked(pods, types.NamespacedName{Namespace: req.Namespace, Name: name}, req.dryRun(), func(old *storage.Revision) (Object, error) {
		pod := old.Object().(*corev1.Pod)
		if err := checkStoragePrecondition(pods, old, binding); err != nil {
			return nil, apierrors.NewConflict(pods.GroupResource(), name, err)
		}
		if err := checkBindable(pod); err != nil {
			return nil, apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, name, err)
		}
		pod.Spec.NodeName, pod.Status.NominatedNodeName = binding.Target.Name, ""
		pod.Annotations, pod.Labels = mergeMaps(pod.Annotations, binding.Annotations), mergeMaps(pod.Labels, binding.Labels)
		apiobject.SetPodCondition(pod, corev1.PodScheduled, corev1.ConditionTrue, "")
		return pod, nil
	})
	return nil, err
}

func validateBinding(binding *corev1.Binding) (errs field.ErrorList) {
	target := field.NewPath("target")
	if kind := binding.Target.Kind; kind != "" && kind != "Node" {
		errs = append(errs, field.NotSupported(target.Child("kind"), kind, []string{"Node", "<empty>"}))
	}
	if binding.Target.Name == "" {
		errs = append(errs, field.Required(target.Child("name"), ""))
	}
	return errs
}

// checkBindable returns why a pod cannot be assigned to a node, or nil.
func checkBindable(pod *corev1.Pod) error {
	switch {
	case pod.DeletionTimestamp != nil:
		return fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", pod.Name)
	case pod.Spec.NodeName != "":
		return fmt.Errorf("pod %s is already assigned to node %q", pod.Name, pod.Spec.NodeName)
	case len(pod.Spec.SchedulingGates) > 0:
		return fmt.Errorf("pod %s has non-empty .spec.schedulingGates", pod.Name)
	}
	return nil
}

// checkStoragePrecondition returns an error if the sent object has another UID or resourceVersion
// than the stored object. The error has the text of the real server's storage.
func checkStoragePrecondition(res *storage.Resource, old *storage.Revision, sent metav1.Object) error {
	unmet := func(what, want, is string) error {
		if want == "" || want == is {
			return nil
		}
		return fmt.Errorf("StorageError: invalid object, Code: 4, Key: /registry/%s/%s, ResourceVersion: 0, AdditionalErrorMsg: "+
			"Precondition failed: %s in precondition: %s, %s in object meta: %s", res.Plural, old.Key, what, want, what, is)
	}
	if err := unmet("UID", string(sent.GetUID()), string(old.Object().GetUID())); err != nil {
		return err
	}
	return unmet("ResourceVersion", sent.GetResourceVersion(), old.ResourceVersion())
}

// mergeMaps returns the entries of a and b. An entry of b replaces an entry of a.
func mergeMaps(a, b map[string]string) map[string]string {
	if len(b) == 0 {
		return a
	}
	all := maps.Clone(a)
	if all == nil {
		all = make(map[string]string, len(b))
	}
	maps.Copy(all, b)
	return all
}
