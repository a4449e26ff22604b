package testing

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// CreateAction creates an object.
type CreateAction interface {
	Action
	GetObject() runtime.Object
}

// CreateActionImpl is a CreateAction. Name is the name of the object, and is set only for
// subresources.
type CreateActionImpl struct {
	ActionImpl
	Name          string
	Object        runtime.Object
	CreateOptions metav1.CreateOptions
}

func NewCreateAction(resource schema.GroupVersionResource, namespace string, object runtime.Object) CreateActionImpl {
	return NewCreateActionWithOptions(resource, namespace, object, metav1.CreateOptions{})
}

func NewCreateActionWithOptions(resource schema.GroupVersionResource, namespace string, object runtime.Object, opts metav1.CreateOptions) CreateActionImpl {
	return NewCreateSubresourceActionWithOptions(resource, "", "", namespace, object, opts)
}

func NewCreateSubresourceAction(resource schema.GroupVersionResource, name, subresource, namespace string, object runtime.Object) CreateActionImpl {
	return NewCreateSubresourceActionWithOptions(resource, name, subresource, namespace, object, metav1.CreateOptions{})
}

func NewCreateSubresourceActionWithOptions(resource schema.GroupVersionResource, name, subresource, namespace string, object runtime.Object, opts metav1.CreateOptions) CreateActionImpl {
	return CreateActionImpl{newAction("create", resource, namespace, subresource), name, object, opts}
}

func NewRootCreateAction(resource schema.GroupVersionResource, object runtime.Object) CreateActionImpl {
	return NewCreateAction(resource, "", object)
}

func NewRootCreateActionWithOptions(resource schema.GroupVersionResource, object runtime.Object, opts metav1.CreateOptions) CreateActionImpl {
	return NewCreateActionWithOptions(resource, "", object, opts)
}

func NewRootCreateSubresourceAction(resource schema.GroupVersionResource, name, subresource string, object runtime.Object) CreateActionImpl {
	return NewCreateSubresourceAction(resource, name, subresource, "", object)
}

func NewRootCreateSubresourceActionWithOptions(resource schema.GroupVersionResource, name, subresource string, object runtime.Object, opts metav1.CreateOptions) CreateActionImpl {
	return NewCreateSubresourceActionWithOptions(resource, name, subresource, "", object, opts)
}

func (a CreateActionImpl) GetObject() runtime.Object              { return a.Object }
func (a CreateActionImpl) GetCreateOptions() metav1.CreateOptions { return a.CreateOptions }

func (a CreateActionImpl) DeepCopy() Action {
	a.Object = copyOf(a.Object)
	a.CreateOptions = *a.CreateOptions.DeepCopy()
	return a
}

// copyOf returns a copy of an object, or nil for nil.
func copyOf(obj runtime.Object) runtime.Object {
	if obj == nil {
		return nil
	}
	return obj.DeepCopyObject()
}

// UpdateAction replaces an object.
type UpdateAction interface {
	Action
	GetObject() runtime.Object
}

// UpdateActionImpl is an UpdateAction.
type UpdateActionImpl struct {
	ActionImpl
	Object        runtime.Object
	UpdateOptions metav1.UpdateOptions
}

func NewUpdateAction(resource schema.GroupVersionResource, namespace string, object runtime.Object) UpdateActionImpl {
	return NewUpdateActionWithOptions(resource, namespace, object, metav1.UpdateOptions{})
}

func NewUpdateActionWithOptions(resource schema.GroupVersionResource, namespace string, object runtime.Object, opts metav1.UpdateOptions) UpdateActionImpl {
	return NewUpdateSubresourceActionWithOptions(resource, "", namespace, object, opts)
}

func NewUpdateSubresourceAction(resource schema.GroupVersionResource, subresource string, namespace string, object runtime.Object) UpdateActionImpl {
	return NewUpdateSubresourceActionWithOptions(resource, subresource, namespace, object, metav1.UpdateOptions{})
}

func NewUpdateSubresourceActionWithOptions(resource schema.GroupVersionResource, subresource string, namespace string, object runtime.Object, opts metav1.UpdateOptions) UpdateActionImpl {
	return UpdateActionImpl{newAction("update", resource, namespace, subresource), object, opts}
}

func NewRootUpdateAction(resource schema.GroupVersionResource, object runtime.Object) UpdateActionImpl {
	return NewUpdateAction(resource, "", object)
}

func NewRootUpdateActionWithOptions(resource schema.GroupVersionResource, object runtime.Object, opts metav1.UpdateOptions) UpdateActionImpl {
	return NewUpdateActionWithOptions(resource, "", object, opts)
}

func NewRootUpdateSubresourceAction(resource schema.GroupVersionResource, subresource string, object runtime.Object) UpdateActionImpl {
	return NewUpdateSubresourceAction(resource, subresource, "", object)
}

func NewRootUpdateSubresourceActionWithOptions(resource schema.GroupVersionResource, subresource string, object runtime.Object, opts metav1.UpdateOptions) UpdateActionImpl {
	return NewUpdateSubresourceActionWithOptions(resource, subresource, "", object, opts)
}

func (a UpdateActionImpl) GetObject() runtime.Object              { return a.Object }
func (a UpdateActionImpl) GetUpdateOptions() metav1.UpdateOptions { return a.UpdateOptions }

func (a UpdateActionImpl) DeepCopy() Action {
	a.Object = copyOf(a.Object)
	a.UpdateOptions = *a.UpdateOptions.DeepCopy()
	return a
}

// DeleteAction deletes an object.
type DeleteAction interface {
	Action
	GetName() string
	GetDeleteOptions() metav1.DeleteOptions
}

// DeleteActionImpl is a DeleteAction.
type DeleteActionImpl struct {
	ActionImpl
	Name          string
	DeleteOptions metav1.DeleteOptions
}

func NewDeleteAction(resource schema.GroupVersionResource, namespace, name string) DeleteActionImpl {
	return NewDeleteActionWithOptions(resource, namespace, name, metav1.DeleteOptions{})
}

func NewDeleteActionWithOptions(resource schema.GroupVersionResource, namespace, name string, opts metav1.DeleteOptions) DeleteActionImpl {
	return NewDeleteSubresourceActionWithOptions(resource, "", namespace, name, opts)
}

func NewDeleteSubresourceAction(resource schema.GroupVersionResource, subresource, namespace, name string) DeleteActionImpl {
	return NewDeleteSubresourceActionWithOptions(resource, subresource, namespace, name, metav1.DeleteOptions{})
}

func NewDeleteSubresourceActionWithOptions(resource schema.GroupVersionResource, subresource, namespace, name string, opts metav1.DeleteOptions) DeleteActionImpl {
	return DeleteActionImpl{newAction("delete", resource, namespace, subresource), name, opts}
}

func NewRootDeleteAction(resource schema.GroupVersionResource, name string) DeleteActionImpl {
	return NewDeleteAction(resource, "", name)
}

func NewRootDeleteActionWithOptions(resource schema.GroupVersionResource, name string, opts metav1.DeleteOptions) DeleteActionImpl {
	return NewDeleteActionWithOptions(resource, "", name, opts)
}

func NewRootDeleteSubresourceAction(resource schema.GroupVersionResource, subresource string, name string) DeleteActionImpl {
	return NewDeleteSubresourceAction(resource, subresource, "", name)
}

func NewRootDeleteSubresourceActionWithOptions(resource schema.GroupVersionResource, subresource string, name string, opts metav1.DeleteOptions) DeleteActionImpl {
	return NewDeleteSubresourceActionWithOptions(resource, subresource, "", name, opts)
}

func (a DeleteActionImpl) GetName() string                        { return a.Name }
func (a DeleteActionImpl) GetDeleteOptions() metav1.DeleteOptions { return a.DeleteOptions }

func (a DeleteActionImpl) DeepCopy() Action {
	a.DeleteOptions = *a.DeleteOptions.DeepCopy()
	return a
}

// DeleteCollectionAction deletes the objects that match selectors.
type DeleteCollectionAction interface {
	Action
	GetListRestrictions() ListRestrictions
}

// DeleteCollectionActionImpl is a DeleteCollectionAction.
type DeleteCollectionActionImpl struct {
	ActionImpl
	ListRestrictions ListRestrictions
	DeleteOptions    metav1.DeleteOptions
	ListOptions      metav1.ListOptions
}

// NewDeleteCollectionAction returns the action for a namespace. opts is a metav1.ListOptions. Any
// other value, such as nil, means no options.
func NewDeleteCollectionAction(resource schema.GroupVersionResource, namespace string, opts interface{}) DeleteCollectionActionImpl {
	options, _ := opts.(metav1.ListOptions)
	return NewDeleteCollectionActionWithOptions(resource, namespace, metav1.DeleteOptions{}, options)
}

func NewDeleteCollectionActionWithOptions(resource schema.GroupVersionResource, namespace string, deleteOpts metav1.DeleteOptions, listOpts metav1.ListOptions) DeleteCollectionActionImpl {
	byLabels, byFields, _ := ExtractFromListOptions(listOpts)
	return DeleteCollectionActionImpl{newAction("delete-collection", resource, namespace), ListRestrictions{byLabels, byFields}, deleteOpts, listOpts}
}

func NewRootDeleteCollectionAction(resource schema.GroupVersionResource, opts interface{}) DeleteCollectionActionImpl {
	return NewDeleteCollectionAction(resource, "", opts)
}

func NewRootDeleteCollectionActionWithOptions(resource schema.GroupVersionResource, deleteOpts metav1.DeleteOptions, listOpts metav1.ListOptions) DeleteCollectionActionImpl {
	return NewDeleteCollectionActionWithOptions(resource, "", deleteOpts, listOpts)
}

func (a DeleteCollectionActionImpl) GetListRestrictions() ListRestrictions  { return a.ListRestrictions }
func (a DeleteCollectionActionImpl) GetDeleteOptions() metav1.DeleteOptions { return a.DeleteOptions }
func (a DeleteCollectionActionImpl) GetListOptions() metav1.ListOptions     { return a.ListOptions }

func (a DeleteCollectionActionImpl) DeepCopy() Action {
	a.ListRestrictions = a.ListRestrictions.copy()
	a.DeleteOptions = *a.DeleteOptions.DeepCopy()
	a.ListOptions = *a.ListOptions.DeepCopy()
	return a
}
