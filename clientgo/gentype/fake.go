package gentype

import (
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/testing"
)

// FakeClient has the methods of Client, and takes its results from a testing.Fake.
type FakeClient[T objectWithMeta] struct {
	*testing.Fake
	namespace string
	resource  schema.GroupVersionResource
	kind      schema.GroupVersionKind
	newObject func() T
}

// NewFakeClient returns a fake client without List and Apply. namespace is "" for a cluster-scoped
// resource.
func NewFakeClient[T objectWithMeta](
	fake *testing.Fake, namespace string, resource schema.GroupVersionResource, kind schema.GroupVersionKind, emptyObjectCreator func() T,
) *FakeClient[T] {
	return &FakeClient[T]{fake, namespace, resource, kind, emptyObjectCreator}
}

// Resource returns the client's resource.
func (c *FakeClient[T]) Resource() schema.GroupVersionResource { return c.resource }

// Kind returns the kind of the objects of the resource.
func (c *FakeClient[T]) Kind() schema.GroupVersionKind { return c.kind }

// Namespace returns the client's namespace, or "".
func (c *FakeClient[T]) Namespace() string { return c.namespace }

// invoke runs an action whose result is an object. An error may come with an empty object.
func (c *FakeClient[T]) invoke(action testing.Action) (T, error) {
	empty := c.newObject()
	obj, err := c.Invokes(action, empty)
	if obj == nil {
		return empty, err
	}
	return obj.(T), err
}

// Get returns the object with the given name.
func (c *FakeClient[T]) Get(ctx context.Context, name string, options metav1.GetOptions) (T, error) {
	return c.invoke(testing.NewGetActionWithOptions(c.resource, c.namespace, name, options))
}

// Create creates an object.
func (c *FakeClient[T]) Create(ctx context.Context, resource T, opts metav1.CreateOptions) (result T, err error) {
	return c.invoke(testing.NewCreateActionWithOptions(c.resource, c.namespace, resource, opts))
}

// Update replaces an object.
func (c *FakeClient[T]) Update(ctx context.Context, resource T, opts metav1.UpdateOptions) (result T, err error) {
	return c.invoke(testing.NewUpdateActionWithOptions(c.resource, c.namespace, resource, opts))
}

// UpdateStatus replaces the status of an object. An ObjectTracker replaces the whole object.
func (c *FakeClient[T]) UpdateStatus(ctx context.Context, resource T, opts metav1.UpdateOptions) (result T, err error) {
	return c.invoke(testing.NewUpdateSubresourceActionWithOptions(c.resource, "status", c.namespace, resource, opts))
}

// Delete deletes the object with the given name.
func (c *FakeClient[T]) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	_, err := c.Invokes(testing.NewDeleteActionWithOptions(c.resource, c.namespace, name, opts), c.newObject())
	return err
}

// Watch returns the changes of the objects. An ObjectTracker ignores the selectors.
func (c *FakeClient[T]) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return c.InvokesWatch(testing.NewWatchActionWithOptions(c.resource, c.namespace, opts))
}

// Patch changes an object, or a subresource of it.
func (c *FakeClient[T]) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (result T, err error) {
	return c.invoke(testing.NewPatchSubresourceActionWithOptions(c.resource, c.namespace, name, pt, data, opts, subresources...))
}

// FakeClientWithList is a FakeClient with List.
type FakeClientWithList[T objectWithMeta, L runtime.Object] struct {
	*FakeClient[T]
	fakeListMixin[T, L]
}

// NewFakeClientWithList is NewFakeClient for a client with List. Of the functions, one makes a
// list, one copies the metadata of a list, one gets its items, and one sets them.
func NewFakeClientWithList[T objectWithMeta, L runtime.Object](
	fake *testing.Fake, namespace string, resource schema.GroupVersionResource, kind schema.GroupVersionKind, emptyObjectCreator func() T,
	emptyListCreator func() L, listMetaCopier func(L, L), itemGetter func(L) []T, itemSetter func(L, []T),
) *FakeClientWithList[T, L] {
	c := NewFakeClient(fake, namespace, resource, kind, emptyObjectCreator)
	return &FakeClientWithList[T, L]{c, fakeListMixin[T, L]{c, emptyListCreator, listMetaCopier, itemGetter, itemSetter}}
}

// FakeClientWithApply is a FakeClient with Apply.
type FakeClientWithApply[T objectWithMeta, C namedObject] struct {
	*FakeClient[T]
	fakeApplyMixin[T, C]
}

// NewFakeClientWithApply is NewFakeClient for a client with Apply.
func NewFakeClientWithApply[T objectWithMeta, C namedObject](
	fake *testing.Fake, namespace string, resource schema.GroupVersionResource, kind schema.GroupVersionKind, emptyObjectCreator func() T,
) *FakeClientWithApply[T, C] {
	c := NewFakeClient(fake, namespace, resource, kind, emptyObjectCreator)
	return &FakeClientWithApply[T, C]{c, fakeApplyMixin[T, C]{c}}
}

// FakeClientWithListAndApply is a FakeClient with List and Apply.
type FakeClientWithListAndApply[T objectWithMeta, L runtime.Object, C namedObject] struct {
	*FakeClient[T]
	fakeListMixin[T, L]
	fakeApplyMixin[T, C]
}

// NewFakeClientWithListAndApply is NewFakeClientWithList for a client with Apply.
func NewFakeClientWithListAndApply[T objectWithMeta, L runtime.Object, C namedObject](
	fake *testing.Fake, namespace string, resource schema.GroupVersionResource, kind schema.GroupVersionKind, emptyObjectCreator func() T,
	emptyListCreator func() L, listMetaCopier func(L, L), itemGetter func(L) []T, itemSetter func(L, []T),
) *FakeClientWithListAndApply[T, L, C] {
	c := NewFakeClient(fake, namespace, resource, kind, emptyObjectCreator)
	return &FakeClientWithListAndApply[T, L, C]{
		c, fakeListMixin[T, L]{c, emptyListCreator, listMetaCopier, itemGetter, itemSetter}, fakeApplyMixin[T, C]{c},
	}
}

// fakeListMixin adds List to a fake client.
type fakeListMixin[T objectWithMeta, L runtime.Object] struct {
	client   *FakeClient[T]
	newList  func() L
	copyMeta func(to, from L)
	items    func(L) []T
	setItems func(L, []T)
}

// List returns the objects that match the label selector of the options.
func (l *fakeListMixin[T, L]) List(ctx context.Context, opts metav1.ListOptions) (result L, err error) {
	list := l.newList()
	obj, err := l.client.Invokes(testing.NewListActionWithOptions(l.client.resource, l.client.kind, l.client.namespace, opts), l.newList())
	if obj == nil {
		return list, err
	}
	all := obj.(L)
	selector, _, _ := testing.ExtractFromListOptions(opts)
	l.copyMeta(list, all)
	var selected []T
	for _, item := range l.items(all) {
		if selector.Matches(labels.Set(item.GetLabels())) {
			selected = append(selected, item)
		}
	}
	l.setItems(list, selected)
	return list, err
}

// DeleteCollection deletes nothing by itself. A reactor of the test may delete the objects that the
// options select.
func (l *fakeListMixin[T, L]) DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error {
	_, err := l.client.Invokes(testing.NewDeleteCollectionActionWithOptions(l.client.resource, l.client.namespace, opts, listOpts), l.newList())
	return err
}

// fakeApplyMixin adds Apply to a fake client.
type fakeApplyMixin[T objectWithMeta, C namedObject] struct{ client *FakeClient[T] }

// Apply applies a configuration, which must have a name.
func (a *fakeApplyMixin[T, C]) Apply(ctx context.Context, configuration C, opts metav1.ApplyOptions) (result T, err error) {
	return a.apply(ctx, configuration, opts)
}

// ApplyStatus applies the status of a configuration, which must have a name.
func (a *fakeApplyMixin[T, C]) ApplyStatus(ctx context.Context, configuration C, opts metav1.ApplyOptions) (result T, err error) {
	return a.apply(ctx, configuration, opts, "status")
}

func (a *fakeApplyMixin[T, C]) apply(ctx context.Context, configuration C, opts metav1.ApplyOptions, subresources ...string) (none T, err error) {
	if configuration == *new(C) {
		return none, errors.New("configuration provided to Apply must not be nil")
	}
	name := configuration.GetName()
	if name == nil {
		return none, errors.New("configuration.Name must be provided to Apply")
	}
	data, err := json.Marshal(configuration)
	if err != nil {
		return none, err
	}
	return a.client.Patch(ctx, *name, types.ApplyYAMLPatchType, data, opts.ToPatchOptions(), subresources...)
}
