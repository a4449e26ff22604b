package testing

import (
	"encoding/json"
	"fmt"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// ObjectReaction returns a reaction that performs gets, lists, creates, updates, deletes and
// patches on a tracker.
//
// Unlike a server, it does not set defaults, validate or convert. An update of a subresource
// replaces the whole object. An apply calls the tracker's Apply.
func ObjectReaction(tracker ObjectTracker) ReactionFunc {
	return func(action Action) (bool, runtime.Object, error) {
		var obj runtime.Object
		var err error
		gvr, ns := action.GetResource(), action.GetNamespace()
		switch a := action.(type) {
		case ListActionImpl:
			obj, err = tracker.List(gvr, a.Kind, ns, a.ListOptions)
		case GetActionImpl:
			obj, err = tracker.Get(gvr, ns, a.Name, a.GetOptions)
		case CreateActionImpl:
			obj, err = create(tracker, a)
		case UpdateActionImpl:
			obj, err = update(tracker, a)
		case DeleteActionImpl:
			err = tracker.Delete(gvr, ns, a.Name, a.DeleteOptions)
		case PatchActionImpl:
			obj, err = patch(tracker, a)
		default:
			return false, nil, fmt.Errorf("no reaction implemented for %s", action)
		}
		if err != nil {
			return true, nil, err
		}
		return true, obj, nil
	}
}

// create creates an object. A create of a subresource, such as a binding or an eviction, updates
// the object if it has the same type. A create of any other subresource changes nothing.
func create(tracker ObjectTracker, a CreateActionImpl) (runtime.Object, error) {
	object, err := meta.Accessor(a.Object)
	if err != nil {
		return nil, err
	}
	if a.Subresource == "" {
		err = tracker.Create(a.Resource, a.Object, a.Namespace, a.CreateOptions)
	} else {
		var owner runtime.Object
		if owner, err = tracker.Get(a.Resource, a.Namespace, object.GetName()); err != nil {
			return nil, err
		}
		if reflect.TypeOf(owner) != reflect.TypeOf(a.Object) {
			return a.Object, nil
		}
		err = tracker.Update(a.Resource, a.Object, a.Namespace)
	}
	if err != nil {
		return nil, err
	}
	return tracker.Get(a.Resource, a.Namespace, object.GetName())
}

func update(tracker ObjectTracker, a UpdateActionImpl) (runtime.Object, error) {
	object, err := meta.Accessor(a.Object)
	if err != nil {
		return nil, err
	}
	if err := tracker.Update(a.Resource, a.Object, a.Namespace, a.UpdateOptions); err != nil {
		return nil, err
	}
	return tracker.Get(a.Resource, a.Namespace, object.GetName())
}

func patch(tracker ObjectTracker, a PatchActionImpl) (runtime.Object, error) {
	if a.PatchType == types.ApplyYAMLPatchType {
		return applyConfiguration(tracker, a)
	}
	obj, err := tracker.Get(a.Resource, a.Namespace, a.Name)
	if err != nil {
		return nil, err
	}
	patched, err := merged(obj, a.PatchType, a.Patch)
	if err != nil {
		return nil, err
	}
	if err := tracker.Patch(a.Resource, patched, a.Namespace, a.PatchOptions); err != nil {
		return nil, err
	}
	return stored(tracker, a, patched)
}

// stored returns the object after a patch, as the tracker has it, with its managed fields. If the
// patch removed the last finalizer, a tracker of the program may have deleted the object. Then
// stored returns written.
func stored(tracker ObjectTracker, a PatchActionImpl, written runtime.Object) (runtime.Object, error) {
	obj, err := tracker.Get(a.Resource, a.Namespace, a.Name)
	if apierrors.IsNotFound(err) {
		return written, nil
	}
	return obj, err
}

// merged applies a patch to obj and returns the result as a new object.
func merged(obj runtime.Object, kind types.PatchType, patch []byte) (runtime.Object, error) {
	before, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	var after []byte
	switch kind {
	case types.JSONPatchType:
		var operations jsonpatch.Patch
		if operations, err = jsonpatch.DecodePatch(patch); err == nil {
			after, err = operations.Apply(before)
		}
	case types.MergePatchType:
		after, err = jsonpatch.MergePatch(before, patch)
	case types.StrategicMergePatchType:
		after, err = strategicMerge(before, patch, obj)
	default:
		err = fmt.Errorf("PatchType %s is not supported", kind)
	}
	if err != nil {
		return nil, err
	}
	patched := reflect.New(reflect.TypeOf(obj).Elem()).Interface().(runtime.Object)
	return patched, json.Unmarshal(after, patched)
}

// applyConfiguration applies a patch as an apply configuration. It uses the object name in the
// action, and not the name in the patch.
func applyConfiguration(tracker ObjectTracker, a PatchActionImpl) (runtime.Object, error) {
	configuration := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(a.Patch, &configuration.Object); err != nil {
		return nil, err
	}
	configuration.SetName(a.Name)
	if err := tracker.Apply(a.Resource, configuration, a.Namespace, a.PatchOptions); err != nil {
		return nil, err
	}
	return stored(tracker, a, configuration)
}
