package apitest

import (
	"net/http"
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/builtin"
	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
)

// scaleResource is the resource of a Scale, which has the desired and the current number of
// replicas.
var scaleResource = builtin.NewResource("scale", autoscalingv1.SchemeGroupVersion, &autoscalingv1.Scale{}, storage.Namespaced)

// scale handles a request for the scale subresource.
func (s *Server) scale(w http.ResponseWriter, req *Request) error {
	f, ok := wire.Negotiate(req.HTTP.Header.Get("Accept"), true)
	if !ok {
		return wire.NewNotAcceptable(scaleResource)
	}
	rev, err := s.scaledObject(req)
	if err != nil {
		return err
	}
	scale := scaleOf(req.res, rev.Object())
	version := rev.Version
	if rev, err = storage.NewRevision(scaleResource, &scale, version); err != nil {
		return err
	}
	f.WriteObject(w, http.StatusOK, rev)
	return nil
}

// scaledObject returns the object whose scale is requested. If the request changes the scale, it
// returns the changed object.
func (s *Server) scaledObject(req *Request) (*storage.Revision, error) {
	if req.Verb == "patch" && isApply(req.mediaType()) {
		wanted, err := req.wantedScale()
		if err != nil {
			return nil, err
		}
		rev, _, err := s.applyObject(req, wanted)
		return rev, err
	}
	change, err := req.scaleChange()
	switch {
	case err != nil:
		return nil, err
	case change == nil:
		if rev := s.store.Get(req.res, req.key()); rev != nil {
			return rev, nil
		}
		return nil, apierrors.NewNotFound(req.res.GroupResource(), req.Name)
	}
	return s.modify(req.res, req.key(), req.dryRun(), func(old *storage.Revision) (Object, error) {
		obj, err := withScale(old, change)
		if err != nil {
			return nil, err
		}
		s.trackManagedFields(req, old, obj)
		return obj, nil
	})
}

// wantedScale decodes an apply of a Scale. It returns the configuration to apply to the scaled
// object.
func (r *Request) wantedScale() (apiobject.Document, error) {
	scale, err := r.decodeApplyBody(scaleResource)
	if err != nil {
		return nil, err
	}
	replicas, has, err := unstructured.NestedFieldNoCopy(scale, "spec", "replicas")
	if err != nil {
		return nil, scaleResource.Undecodable(err)
	}
	wanted := apiobject.Document{}
	wanted["apiVersion"], wanted["kind"] = r.res.GVK.ToAPIVersionAndKind()
	if !has {
		return wanted, nil
	}
	if n, ok := replicas.(int64); ok && n < 0 {
		return nil, negativeScale(r.res, r.Name, n)
	}
	return wanted, unstructured.SetNestedField(wanted, replicas, replicasPath(r.res)...)
}

// scaleChange returns the change that a request makes to a Scale, or nil for a read.
func (r *Request) scaleChange() (change func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error), err error) {
	switch r.Verb {
	case "get":
		return nil, nil
	case "update":
		sent, err := r.read(scaleResource)
		return func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
			return sent.DeepCopyObject().(*autoscalingv1.Scale), nil
		}, err
	case "patch":
		patch, err := patcher(r)
		return func(scale *autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
			doc, err := patch(apiobject.MustJSON(scale))
			if err != nil {
				return nil, err
			}
			obj, err := scaleResource.DecodeJSON(doc, r.query.Get("fieldValidation") == "Strict")
			if err != nil {
				return nil, err
			}
			return obj.(*autoscalingv1.Scale), nil
		}, err
	}
	return nil, wire.NewMethodNotAllowed()
}

// withScale returns a stored object after a change of its scale.
func withScale(old *storage.Revision, change func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error)) (Object, error) {
	obj := old.Object()
	scale := scaleOf(old.Res, obj)
	scale.APIVersion, scale.Kind = scaleResource.GVK.GroupVersion().String(), scaleResource.Kind
	wanted, err := change(&scale)
	if err != nil {
		return nil, err
	}
	if wanted.Name != obj.GetName() {
		return nil, wire.NewOtherName(wanted.Name, obj.GetName())
	}
	if n := wanted.Spec.Replicas; n < 0 {
		return nil, negativeScale(old.Res, obj.GetName(), int64(n))
	}
	if err := checkStoragePrecondition(old.Res, old, &metav1.ObjectMeta{UID: wanted.UID}); err != nil {
		return nil, apierrors.NewConflict(old.Res.GroupResource(), obj.GetName(), err)
	}
	obj.SetResourceVersion(wanted.ResourceVersion)
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return obj, old.Res.CRDVersion.Subresources.Scale.Write(u, wanted.Spec.Replicas)
	}
	replicas(obj).Set(reflect.ValueOf(&wanted.Spec.Replicas))
	return obj, nil
}

// replicasPath returns the path of the desired number of replicas in an object.
func replicasPath(r *storage.Resource) []string {
	if r.Protobuf() {
		return []string{"spec", "replicas"}
	}
	scale := r.CRDVersion.Subresources.Scale
	return scale.Fields(scale.SpecReplicasPath)
}

func negativeScale(r *storage.Resource, name string, n int64) error {
	kind, invalid := scaleResource.GVK, field.Invalid(field.NewPath("spec", "replicas"), n, "must be greater than or equal to 0")
	if !r.Protobuf() { // The real server has another message for custom resources.
		path := field.NewPath(r.CRDVersion.Subresources.Scale.SpecReplicasPath)
		kind, invalid = r.GVK, field.Invalid(path, n, "should be a non-negative integer")
	}
	return apierrors.NewInvalid(kind.GroupKind(), name, field.ErrorList{invalid})
}

// scaleOf returns the Scale of an object.
func scaleOf(r *storage.Resource, obj Object) autoscalingv1.Scale {
	scale := autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(),
		ResourceVersion: obj.GetResourceVersion(), CreationTimestamp: obj.GetCreationTimestamp(),
	}}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		r.CRDVersion.Subresources.Scale.Read(u, &scale)
		return scale
	}
	scale.Status.Replicas = int32(apiobject.Status(obj).FieldByName("Replicas").Int())
	scale.Status.Selector = selectorOf(obj)
	if n := replicas(obj); !n.IsNil() {
		scale.Spec.Replicas = int32(n.Elem().Int())
	}
	return scale
}

// selectorOf returns the pod selector of a scalable object.
func selectorOf(obj Object) string {
	switch s := reflect.ValueOf(obj).Elem().FieldByName("Spec").FieldByName("Selector").Interface().(type) {
	case map[string]string:
		return labels.SelectorFromSet(s).String()
	case *metav1.LabelSelector:
		if selector, err := metav1.LabelSelectorAsSelector(s); err == nil {
			return selector.String()
		}
	}
	return ""
}

// replicas returns the field spec.replicas of a scalable object, an *int32.
func replicas(obj Object) reflect.Value {
	return reflect.ValueOf(obj).Elem().FieldByName("Spec").FieldByName("Replicas")
}
