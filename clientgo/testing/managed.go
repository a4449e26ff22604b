//go:build !kinform_no_openapi

package testing

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// managedTracker is a tracker that records managed fields.
type managedTracker struct {
	ObjectTracker
	scheme    *runtime.Scheme
	converter managedfields.TypeConverter
}

// NewFieldManagedObjectTracker returns an empty tracker that records managed fields. Its Apply
// reports conflicts between field managers. Types may be added to the scheme later.
//
// Create, Update and Patch write the managed fields into their argument obj. Create also writes the
// kind into it. controller-runtime's fake client returns this object to its caller.
func NewFieldManagedObjectTracker(scheme *runtime.Scheme, decoder runtime.Decoder, typeConverter managedfields.TypeConverter) ObjectTracker {
	return &managedTracker{NewObjectTracker(scheme, decoder), scheme, typeConverter}
}

// IsWatchListSemanticsUnSupported makes reflectors list, as with a tracker without managed fields.
func (t *managedTracker) IsWatchListSemanticsUnSupported() bool { return true }

func (t *managedTracker) Create(gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.CreateOptions) error {
	o, err := singleOption(opts)
	if err != nil {
		return err
	}
	gvk, manager, err := t.manager(gvr)
	if err != nil {
		return err
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	before, err := t.empty(gvk)
	if err != nil {
		return err
	}
	object, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	given := object.GetManagedFields()
	after, err := manager.Update(before, obj, managerOrUnknown(o.FieldManager))
	if err == nil {
		err = t.ObjectTracker.Create(gvr, after, ns, opts...)
	}
	if err != nil {
		// if the create fails, restore the object's managed fields, but not its kind
		object.SetManagedFields(given)
	}
	return err
}

func (t *managedTracker) Update(gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.UpdateOptions) error {
	o, err := singleOption(opts)
	if err != nil {
		return err
	}
	obj, err = t.updated(gvr, obj, ns, o.FieldManager)
	if err != nil {
		return err
	}
	return t.ObjectTracker.Update(gvr, obj, ns, opts...)
}

func (t *managedTracker) Patch(gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.PatchOptions) error {
	o, err := singleOption(opts)
	if err != nil {
		return err
	}
	obj, err = t.updated(gvr, obj, ns, o.FieldManager)
	if err != nil {
		return err
	}
	return t.ObjectTracker.Patch(gvr, obj, ns, opts...)
}

// updated returns obj with the managed fields that it has after obj has replaced the stored object.
func (t *managedTracker) updated(gvr schema.GroupVersionResource, obj runtime.Object, ns, fieldManager string) (runtime.Object, error) {
	gvk, manager, err := t.manager(gvr)
	if err != nil {
		return nil, err
	}
	object, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	before, err := t.Get(gvr, ns, object.GetName())
	if err != nil {
		return nil, err
	}
	// Programs omit the kind or a part of it, but a merge needs the kind. The kind is set only for
	// the merge: the stored object has the kind that the program gave.
	given := obj.GetObjectKind().GroupVersionKind()
	before.GetObjectKind().SetGroupVersionKind(gvk)
	if t.mayHaveKind(obj, gvk) {
		obj.GetObjectKind().SetGroupVersionKind(gvk)
	}
	after, err := manager.Update(before, obj, managerOrUnknown(fieldManager))
	obj.GetObjectKind().SetGroupVersionKind(given)
	if err != nil {
		return nil, err
	}
	after.GetObjectKind().SetGroupVersionKind(given)
	return after, nil
}

// mayHaveKind reports whether the kind of an object can be gvk. The object may lack its kind. If a
// Scale updates a Deployment, the result is false, and the merge then fails.
func (t *managedTracker) mayHaveKind(obj runtime.Object, gvk schema.GroupVersionKind) bool {
	if _, ok := obj.(runtime.Unstructured); ok {
		return true
	}
	kinds, _, err := t.scheme.ObjectKinds(obj)
	return err == nil && slices.Contains(kinds, gvk)
}

func (t *managedTracker) Apply(gvr schema.GroupVersionResource, applyConfiguration runtime.Object, ns string, opts ...metav1.PatchOptions) error {
	o, err := singleOption(opts)
	if err != nil {
		return err
	}
	gvk, manager, err := t.manager(gvr)
	if err != nil {
		return err
	}
	configuration, err := meta.Accessor(applyConfiguration)
	if err != nil {
		return err
	}
	before, err := t.Get(gvr, ns, configuration.GetName())
	exists := err == nil
	if !exists {
		if !apierrors.IsNotFound(err) {
			return err
		}
		if before, err = t.empty(gvk); err != nil {
			return err
		}
	}
	before.GetObjectKind().SetGroupVersionKind(gvk)
	after, err := manager.Apply(before, applyConfiguration, managerOrUnknown(o.FieldManager), o.Force != nil && *o.Force)
	if err != nil {
		return err
	}
	if exists {
		return t.ObjectTracker.Patch(gvr, after, ns, o)
	}
	return t.ObjectTracker.Create(gvr, after, ns, metav1.CreateOptions{DryRun: o.DryRun, FieldManager: o.FieldManager})
}

// managerOrUnknown returns the field manager of a write, which is "unknown" if the write has none.
func managerOrUnknown(fieldManager string) string {
	if fieldManager == "" {
		return "unknown"
	}
	return fieldManager
}

// empty returns an empty object of a kind. It stands for the state before a create.
func (t *managedTracker) empty(gvk schema.GroupVersionKind) (runtime.Object, error) {
	obj, err := t.scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj, nil
}

// manager returns the kind of a resource, and the FieldManager that merges the managed fields of
// its objects.
func (t *managedTracker) manager(gvr schema.GroupVersionResource) (schema.GroupVersionKind, *managedfields.FieldManager, error) {
	gvk, err := t.kind(gvr)
	if err != nil {
		return gvk, nil, err
	}
	types := sameVersion{t.scheme}
	manager, err := managedfields.NewDefaultFieldManager(t.converter, types, types, t.scheme, gvk, gvk.GroupVersion(), "", nil)
	return gvk, manager, err
}

// kind returns the registered kind whose guessed resource is gvr.
func (t *managedTracker) kind(gvr schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	for kind := range t.scheme.KnownTypes(gvr.GroupVersion()) {
		gvk := gvr.GroupVersion().WithKind(kind)
		plural, singular := meta.UnsafeGuessKindToResource(gvk)
		if strings.EqualFold(plural.Resource, gvr.Resource) || strings.EqualFold(singular.Resource, gvr.Resource) {
			return gvk, nil
		}
	}
	return schema.GroupVersionKind{}, &meta.NoResourceMatchError{PartialResource: gvr}
}

// sameVersion neither converts nor sets defaults, because a tracker treats each version of a type
// as a separate resource.
type sameVersion struct{ scheme *runtime.Scheme }

func (sameVersion) Default(runtime.Object) {}

// ConvertToVersion converts the result of a merge, an unstructured object, to the Go type of its
// kind.
func (c sameVersion) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	gvk := in.GetObjectKind().GroupVersionKind()
	if to, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{gvk}); gvk.Kind == "" || !ok || to != gvk {
		return c.scheme.ConvertToVersion(in, target)
	}
	merged, ok := in.(*unstructured.Unstructured)
	if !ok {
		return in, nil
	}
	out, err := c.scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	if _, ok := out.(runtime.Unstructured); ok {
		return in, nil
	}
	return out, runtime.DefaultUnstructuredConverter.FromUnstructured(merged.Object, out)
}

func (sameVersion) Convert(in, out, context interface{}) error {
	return fmt.Errorf("a conversion of %T to %T is a server's", in, out)
}

func (sameVersion) ConvertFieldLabel(gvk schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
