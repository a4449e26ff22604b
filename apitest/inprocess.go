package apitest

import (
	"fmt"
	"reflect"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// Object is an object that the server stores: a pointer to a built-in type, or an
// *unstructured.Unstructured for a custom resource. It has the methods of runtime.Object and
// metav1.Object.
type Object = apiobject.Object

// Create stores a copy of obj, and returns another copy in the stored state. The Go type determines
// the resource. For an *unstructured.Unstructured, its kind and apiVersion determine the resource.
// Unlike a POST, Create stores the status as it is.
//
// Errors are API errors, such as AlreadyExists.
func (s *Server) Create(obj Object) (Object, error) {
	res, obj, err := s.toStored(obj)
	if err != nil {
		return nil, err
	}
	return objectOf(s.insert(res, obj, false))
}

// Update replaces a stored object by a copy of obj, and returns another copy in the stored state.
// If obj has a resourceVersion, it must equal the stored resourceVersion; otherwise the error is a
// Conflict. Unlike a PUT, Update also replaces the status.
func (s *Server) Update(obj Object) (Object, error) {
	res, obj, err := s.toStored(obj)
	if err != nil {
		return nil, err
	}
	return objectOf(s.modify(res, apiobject.Key(obj), false, func(*storage.Revision) (Object, error) {
		return obj.DeepCopyObject().(Object), nil
	}))
}

// Delete deletes an object. If the object has finalizers, Delete only marks it as being deleted.
func (s *Server) Delete(resource schema.GroupVersionResource, key types.NamespacedName) error {
	res, err := s.resourceNamed(resource)
	if err != nil {
		return err
	}
	_, _, err = s.remove(res, key, metav1.DeleteOptions{})
	return err
}

// Get returns a copy of an object: a pointer to its Go type if the type is built in, otherwise an
// *unstructured.Unstructured.
func (s *Server) Get(resource schema.GroupVersionResource, key types.NamespacedName) (Object, error) {
	res, err := s.resourceNamed(resource)
	if err != nil {
		return nil, err
	}
	rev := s.store.Get(res, key)
	if rev == nil {
		return nil, apierrors.NewNotFound(res.GroupResource(), key.Name)
	}
	return rev.Object(), nil
}

// List returns copies of all objects of a resource in a namespace, sorted by namespace and name,
// and the resourceVersion of this state. A namespace of "" means all namespaces.
func (s *Server) List(resource schema.GroupVersionResource, namespace string) (objects []Object, resourceVersion string, err error) {
	res, err := s.resourceNamed(resource)
	if err != nil {
		return nil, "", err
	}
	stored, version := s.store.Snapshot(res)
	for rev := range stored.InNamespace(namespace) {
		objects = append(objects, rev.ConvertedTo(res).Object())
	}
	return objects, strconv.FormatUint(version, 10), nil
}

// toStored returns the resource of obj and a copy in its stored form.
func (s *Server) toStored(obj Object) (*storage.Resource, Object, error) {
	obj = obj.DeepCopyObject().(Object)
	var res *storage.Resource
	if u, ok := obj.(*unstructured.Unstructured); ok {
		res = s.store.ResourceOfKind(u.GroupVersionKind())
	} else {
		res = s.store.ResourceOfGoType(reflect.TypeOf(obj).Elem())
	}
	if res == nil || res.PostOnly {
		return nil, nil, fmt.Errorf("apitest: no resource of kind %s, type %T, is served", obj.GetObjectKind().GroupVersionKind(), obj)
	}
	if res.ClusterScoped {
		obj.SetNamespace("")
	} else if obj.GetNamespace() == "" {
		return nil, nil, fmt.Errorf("apitest: %s %q needs a namespace", res.Kind, obj.GetName())
	}
	if u, ok := obj.(*unstructured.Unstructured); ok && res.Protobuf() {
		typed, err := res.DecodeJSON(apiobject.MustJSON(u.Object), false)
		return res, typed, err
	}
	obj, err := res.CheckType(obj)
	if err == nil {
		res.Schema.Normalize(obj)
	}
	return res, obj, err
}

func (s *Server) resourceNamed(name schema.GroupVersionResource) (*storage.Resource, error) {
	if res := s.store.Resource(name); res != nil && !res.PostOnly {
		return res, nil
	}
	return nil, fmt.Errorf("apitest: no resource %s is served", name)
}

func objectOf(rev *storage.Revision, err error) (Object, error) {
	if err != nil {
		return nil, err
	}
	return rev.Object(), nil
}
