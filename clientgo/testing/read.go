package testing

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GetAction reads one object.
type GetAction interface {
	Action
	GetName() string
}

// GetActionImpl is a GetAction.
type GetActionImpl struct {
	ActionImpl
	Name       string
	GetOptions metav1.GetOptions
}

// NewGetAction returns the action of a get in a namespace. As for all actions, the constructor with
// Root in its name is for cluster-scoped resources. Constructors that end in WithOptions take the
// call's options.
func NewGetAction(resource schema.GroupVersionResource, namespace, name string) GetActionImpl {
	return NewGetActionWithOptions(resource, namespace, name, metav1.GetOptions{})
}

func NewGetActionWithOptions(resource schema.GroupVersionResource, namespace, name string, opts metav1.GetOptions) GetActionImpl {
	return NewGetSubresourceActionWithOptions(resource, namespace, "", name, opts)
}

func NewGetSubresourceAction(resource schema.GroupVersionResource, namespace, subresource, name string) GetActionImpl {
	return NewGetSubresourceActionWithOptions(resource, namespace, subresource, name, metav1.GetOptions{})
}

func NewGetSubresourceActionWithOptions(resource schema.GroupVersionResource, namespace, subresource, name string, opts metav1.GetOptions) GetActionImpl {
	return GetActionImpl{newAction("get", resource, namespace, subresource), name, opts}
}

func NewRootGetAction(resource schema.GroupVersionResource, name string) GetActionImpl {
	return NewGetAction(resource, "", name)
}

func NewRootGetActionWithOptions(resource schema.GroupVersionResource, name string, opts metav1.GetOptions) GetActionImpl {
	return NewGetActionWithOptions(resource, "", name, opts)
}

func NewRootGetSubresourceAction(resource schema.GroupVersionResource, subresource, name string) GetActionImpl {
	return NewGetSubresourceAction(resource, "", subresource, name)
}

func NewRootGetSubresourceActionWithOptions(resource schema.GroupVersionResource, subresource, name string, opts metav1.GetOptions) GetActionImpl {
	return NewGetSubresourceActionWithOptions(resource, "", subresource, name, opts)
}

func (a GetActionImpl) GetName() string                  { return a.Name }
func (a GetActionImpl) GetGetOptions() metav1.GetOptions { return a.GetOptions }
func (a GetActionImpl) DeepCopy() Action                 { return a }

// ListRestrictions are the parsed selectors of a list.
type ListRestrictions struct {
	Labels labels.Selector
	Fields fields.Selector
}

// ListAction lists the objects that match selectors.
type ListAction interface {
	Action
	GetListRestrictions() ListRestrictions
}

// ListActionImpl is a ListAction. Kind is the kind of one object, not of the list.
type ListActionImpl struct {
	ActionImpl
	Kind             schema.GroupVersionKind
	Name             string
	ListRestrictions ListRestrictions
	ListOptions      metav1.ListOptions
}

// NewListAction returns the action of a list in a namespace. opts must be a metav1.ListOptions; any
// other type panics. The action keeps only its parsed selectors.
func NewListAction(resource schema.GroupVersionResource, kind schema.GroupVersionKind, namespace string, opts interface{}) ListActionImpl {
	byLabels, byFields, _ := ExtractFromListOptions(opts)
	return ListActionImpl{
		ActionImpl: newAction("list", resource, namespace), Kind: kind, ListRestrictions: ListRestrictions{byLabels, byFields},
		ListOptions: metav1.ListOptions{LabelSelector: byLabels.String(), FieldSelector: byFields.String()},
	}
}

func NewListActionWithOptions(resource schema.GroupVersionResource, kind schema.GroupVersionKind, namespace string, opts metav1.ListOptions) ListActionImpl {
	a := NewListAction(resource, kind, namespace, opts)
	a.ListOptions = opts
	return a
}

func NewRootListAction(resource schema.GroupVersionResource, kind schema.GroupVersionKind, opts interface{}) ListActionImpl {
	return NewListAction(resource, kind, "", opts)
}

// NewRootListActionWithOptions returns the action of a list in all namespaces. The action keeps
// only the selectors of the options, as client-go does. Tests compare the recorded list of an
// informer with the result of NewRootListAction.
func NewRootListActionWithOptions(resource schema.GroupVersionResource, kind schema.GroupVersionKind, opts metav1.ListOptions) ListActionImpl {
	return NewListAction(resource, kind, "", opts)
}

func (a ListActionImpl) GetKind() schema.GroupVersionKind      { return a.Kind }
func (a ListActionImpl) GetListRestrictions() ListRestrictions { return a.ListRestrictions }
func (a ListActionImpl) GetListOptions() metav1.ListOptions    { return a.ListOptions }

func (a ListActionImpl) DeepCopy() Action {
	a.ListRestrictions = a.ListRestrictions.copy()
	a.ListOptions = *a.ListOptions.DeepCopy()
	return a
}

func (r ListRestrictions) copy() ListRestrictions {
	if r.Labels != nil {
		r.Labels = r.Labels.DeepCopySelector()
	}
	if r.Fields != nil {
		r.Fields = r.Fields.DeepCopySelector()
	}
	return r
}

// WatchRestrictions are the parsed selectors of a watch, and the version at which it begins.
type WatchRestrictions struct {
	Labels          labels.Selector
	Fields          fields.Selector
	ResourceVersion string
}

// WatchAction watches objects.
type WatchAction interface {
	Action
	GetWatchRestrictions() WatchRestrictions
}

// WatchActionImpl is a WatchAction.
type WatchActionImpl struct {
	ActionImpl
	WatchRestrictions WatchRestrictions
	ListOptions       metav1.ListOptions
}

// NewWatchAction returns the action of a watch in a namespace. opts is a metav1.ListOptions. Any
// other value, such as nil, means no options.
func NewWatchAction(resource schema.GroupVersionResource, namespace string, opts interface{}) WatchActionImpl {
	options, _ := opts.(metav1.ListOptions)
	return NewWatchActionWithOptions(resource, namespace, options)
}

func NewWatchActionWithOptions(resource schema.GroupVersionResource, namespace string, opts metav1.ListOptions) WatchActionImpl {
	byLabels, byFields, version := ExtractFromListOptions(opts)
	return WatchActionImpl{newAction("watch", resource, namespace), WatchRestrictions{byLabels, byFields, version}, opts}
}

func NewRootWatchAction(resource schema.GroupVersionResource, opts interface{}) WatchActionImpl {
	return NewWatchAction(resource, "", opts)
}

func NewRootWatchActionWithOptions(resource schema.GroupVersionResource, opts metav1.ListOptions) WatchActionImpl {
	return NewWatchAction(resource, "", opts)
}

func (a WatchActionImpl) GetWatchRestrictions() WatchRestrictions { return a.WatchRestrictions }
func (a WatchActionImpl) GetListOptions() metav1.ListOptions      { return a.ListOptions }

func (a WatchActionImpl) DeepCopy() Action {
	selectors := ListRestrictions{a.WatchRestrictions.Labels, a.WatchRestrictions.Fields}.copy()
	a.WatchRestrictions.Labels, a.WatchRestrictions.Fields = selectors.Labels, selectors.Fields
	a.ListOptions = *a.ListOptions.DeepCopy()
	return a
}

// ExtractFromListOptions returns the selectors and the version in opts, a metav1.ListOptions. It
// panics for any other type and for an unparsable selector, because both are mistakes in the test.
func ExtractFromListOptions(opts interface{}) (labelSelector labels.Selector, fieldSelector fields.Selector, resourceVersion string) {
	o, ok := opts.(metav1.ListOptions)
	if !ok {
		panic(fmt.Errorf("expect a ListOptions %T", opts))
	}
	labelSelector, err := labels.Parse(o.LabelSelector)
	if err != nil {
		panic(fmt.Errorf("invalid selector %q: %w", o.LabelSelector, err))
	}
	fieldSelector, err = fields.ParseSelector(o.FieldSelector)
	if err != nil {
		panic(fmt.Errorf("invalid selector %q: %w", o.FieldSelector, err))
	}
	return labelSelector, fieldSelector, o.ResourceVersion
}
