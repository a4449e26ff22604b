package testing

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// PatchAction changes an object with a patch. An apply is a patch of the type
// types.ApplyYAMLPatchType.
type PatchAction interface {
	Action
	GetName() string
	GetPatchType() types.PatchType
	GetPatch() []byte
}

// PatchActionImpl is a PatchAction.
type PatchActionImpl struct {
	ActionImpl
	Name         string
	PatchType    types.PatchType
	Patch        []byte
	PatchOptions metav1.PatchOptions
}

func NewPatchAction(resource schema.GroupVersionResource, namespace string, name string, pt types.PatchType, patch []byte) PatchActionImpl {
	return NewPatchSubresourceAction(resource, namespace, name, pt, patch)
}

func NewPatchActionWithOptions(resource schema.GroupVersionResource, namespace string, name string, pt types.PatchType, patch []byte, opts metav1.PatchOptions) PatchActionImpl {
	return NewPatchSubresourceActionWithOptions(resource, namespace, name, pt, patch, opts)
}

func NewPatchSubresourceAction(resource schema.GroupVersionResource, namespace, name string, pt types.PatchType, patch []byte, subresources ...string) PatchActionImpl {
	return NewPatchSubresourceActionWithOptions(resource, namespace, name, pt, patch, metav1.PatchOptions{}, subresources...)
}

func NewPatchSubresourceActionWithOptions(resource schema.GroupVersionResource, namespace, name string, pt types.PatchType, patch []byte, opts metav1.PatchOptions, subresources ...string) PatchActionImpl {
	return PatchActionImpl{newAction("patch", resource, namespace, subresources...), name, pt, patch, opts}
}

func NewRootPatchAction(resource schema.GroupVersionResource, name string, pt types.PatchType, patch []byte) PatchActionImpl {
	return NewPatchSubresourceAction(resource, "", name, pt, patch)
}

func NewRootPatchActionWithOptions(resource schema.GroupVersionResource, name string, pt types.PatchType, patch []byte, opts metav1.PatchOptions) PatchActionImpl {
	return NewPatchSubresourceActionWithOptions(resource, "", name, pt, patch, opts)
}

func NewRootPatchSubresourceAction(resource schema.GroupVersionResource, name string, pt types.PatchType, patch []byte, subresources ...string) PatchActionImpl {
	return NewPatchSubresourceAction(resource, "", name, pt, patch, subresources...)
}

func NewRootPatchSubresourceActionWithOptions(resource schema.GroupVersionResource, name string, pt types.PatchType, patch []byte, opts metav1.PatchOptions, subresources ...string) PatchActionImpl {
	return NewPatchSubresourceActionWithOptions(resource, "", name, pt, patch, opts, subresources...)
}

func (a PatchActionImpl) GetName() string                      { return a.Name }
func (a PatchActionImpl) GetPatchType() types.PatchType        { return a.PatchType }
func (a PatchActionImpl) GetPatch() []byte                     { return a.Patch }
func (a PatchActionImpl) GetPatchOptions() metav1.PatchOptions { return a.PatchOptions }

func (a PatchActionImpl) DeepCopy() Action {
	a.Patch = slices.Clone(a.Patch)
	a.PatchOptions = *a.PatchOptions.DeepCopy()
	return a
}
