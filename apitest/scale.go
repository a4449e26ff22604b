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
)

// scaleResource is the resource of a Scale, which has the desired and the current number of
// replicas.
var scaleResource = builtinType{"scale", &autoscalingv1.Scale{}, namespaced, ""}.resource(autoscalingv1.SchemeGroupVersion)

// scale handles a request for the scale subresource.
func (s *Server) scale(w http.ResponseWriter, req *Request) error {
	f, ok := negotiate(req.HTTP.Header.Get("Accept"), true)
	if !ok {
		return errNotAcceptable(scaleResource)
	}
	rev, err := s.scaledObject(req)
	if err != nil {
		return err
	}
	scale := req.res.scaleOf(rev.object())
	version := rev.version
	if rev, err = newRevision(scaleResource, &scale, version); err != nil {
		return err
	}
	f.writeObject(w, http.StatusOK, rev)
	return nil
}

// scaledObject returns the object whose scale is requested. If the request changes the scale, it
// returns the changed object.
func (s *Server) scaledObject(req *Request) (*revision, error) {
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
		if rev := s.store.get(req.res, req.key()); rev != nil {
			return rev, nil
		}
		return nil, apierrors.NewNotFound(req.res.groupResource(), req.Name)
	}
	return s.modify(req.res, req.key(), req.dryRun(), func(old *revision) (Object, error) {
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
func (r *Request) wantedScale() (document, error) {
	scale, err := r.decodeApplyBody(scaleResource)
	if err != nil {
		return nil, err
	}
	replicas, has, err := unstructured.NestedFieldNoCopy(scale, "spec", "replicas")
	if err != nil {
		return nil, scaleResource.undecodable(err)
	}
	wanted := document{}
	wanted["apiVersion"], wanted["kind"] = r.res.gvk.ToAPIVersionAndKind()
	if !has {
		return wanted, nil
	}
	if n, ok := replicas.(int64); ok && n < 0 {
		return nil, r.res.negativeScale(r.Name, n)
	}
	return wanted, unstructured.SetNestedField(wanted, replicas, r.res.replicasPath()...)
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
			obj, err := scaleResource.decodeJSON(doc, r.query.Get("fieldValidation") == "Strict")
			if err != nil {
				return nil, err
			}
			return obj.(*autoscalingv1.Scale), nil
		}, err
	}
	return nil, errMethodNotAllowed()
}

// withScale returns a stored object after a change of its scale.
func withScale(old *revision, change func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error)) (Object, error) {
	obj := old.object()
	scale := old.res.scaleOf(obj)
	scale.APIVersion, scale.Kind = scaleResource.gvk.GroupVersion().String(), scaleResource.Kind
	wanted, err := change(&scale)
	if err != nil {
		return nil, err
	}
	if wanted.Name != obj.GetName() {
		return nil, errOtherName(wanted.Name, obj.GetName())
	}
	if n := wanted.Spec.Replicas; n < 0 {
		return nil, old.res.negativeScale(obj.GetName(), int64(n))
	}
	if err := checkStoragePrecondition(old.res, old, &metav1.ObjectMeta{UID: wanted.UID}); err != nil {
		return nil, apierrors.NewConflict(old.res.groupResource(), obj.GetName(), err)
	}
	obj.SetResourceVersion(wanted.ResourceVersion)
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return obj, old.res.crdVersion.Subresources.Scale.write(u, wanted.Spec.Replicas)
	}
	replicas(obj).Set(reflect.ValueOf(&wanted.Spec.Replicas))
	return obj, nil
}

// replicasPath returns the path of the desired number of replicas in an object.
func (r *resource) replicasPath() []string {
	if r.protobuf() {
		return []string{"spec", "replicas"}
	}
	scale := r.crdVersion.Subresources.Scale
	return scale.fields(scale.SpecReplicasPath)
}

func (r *resource) negativeScale(name string, n int64) error {
	kind, invalid := scaleResource.gvk, field.Invalid(field.NewPath("spec", "replicas"), n, "must be greater than or equal to 0")
	if !r.protobuf() { // The real server has another message for custom resources.
		path := field.NewPath(r.crdVersion.Subresources.Scale.SpecReplicasPath)
		kind, invalid = r.gvk, field.Invalid(path, n, "should be a non-negative integer")
	}
	return apierrors.NewInvalid(kind.GroupKind(), name, field.ErrorList{invalid})
}

// scaleOf returns the Scale of an object.
func (r *resource) scaleOf(obj Object) autoscalingv1.Scale {
	scale := autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(),
		ResourceVersion: obj.GetResourceVersion(), CreationTimestamp: obj.GetCreationTimestamp(),
	}}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		r.crdVersion.Subresources.Scale.read(u, &scale)
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
