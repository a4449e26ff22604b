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
)

// scaleResource is what is read and written of how many replicas there are to be.
var scaleResource = builtin{"scale", &autoscalingv1.Scale{}, namespaced, ""}.resource(autoscalingv1.SchemeGroupVersion)

// scale answers a request about how many replicas there are to be.
func (s *Server) scale(w http.ResponseWriter, req *Request) error {
	f, ok := negotiate(req.HTTP.Header.Get("Accept"), true)
	if !ok {
		return errNotAcceptable(scaleResource)
	}
	var rev *revision
	change, err := req.scaling()
	switch {
	case err != nil:
		return err
	case change == nil:
		if rev = s.store.get(req.res, req.key()); rev == nil {
			return apierrors.NewNotFound(req.res.groupResource(), req.Name)
		}
	default:
		rev, err = s.modify(req.res, req.key(), req.dryRun(), func(old *revision) (Object, error) { return rescaled(old, change) })
	}
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

// scaling returns what a request makes of a scale, nil if it only asks.
func (r *Request) scaling() (change func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error), err error) {
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
			doc, err := patch(mustJSON(scale))
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

// rescaled returns a stored object as a change of its scale has it.
func rescaled(old *revision, change func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error)) (Object, error) {
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
		kind, invalid := scaleResource.gvk, field.Invalid(field.NewPath("spec", "replicas"), n, "must be greater than or equal to 0")
		if !old.res.protobuf() { // in the words of the server of custom resources
			path := field.NewPath(old.res.defined.Subresources.Scale.SpecReplicasPath)
			kind, invalid = old.res.gvk, field.Invalid(path, n, "should be a non-negative integer")
		}
		return nil, apierrors.NewInvalid(kind.GroupKind(), obj.GetName(), field.ErrorList{invalid})
	}
	if err := unmetPrecondition(old.res, old, &metav1.ObjectMeta{UID: wanted.UID}); err != nil {
		return nil, apierrors.NewConflict(old.res.groupResource(), obj.GetName(), err)
	}
	obj.SetResourceVersion(wanted.ResourceVersion)
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return obj, old.res.defined.Subresources.Scale.write(u, wanted.Spec.Replicas)
	}
	replicas(obj).Set(reflect.ValueOf(&wanted.Spec.Replicas))
	return obj, nil
}

// scaleOf is the part of an object that says how many replicas there are to be.
func (r *resource) scaleOf(obj Object) autoscalingv1.Scale {
	scale := autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(),
		ResourceVersion: obj.GetResourceVersion(), CreationTimestamp: obj.GetCreationTimestamp(),
	}}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		r.defined.Subresources.Scale.read(u, &scale)
		return scale
	}
	scale.Status.Replicas = int32(statusOf(obj).FieldByName("Replicas").Int())
	scale.Status.Selector = selectorOf(obj)
	if n := replicas(obj); !n.IsNil() {
		scale.Spec.Replicas = int32(n.Elem().Int())
	}
	return scale
}

// selectorOf is the selector of the pods of an object that can be scaled.
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

// replicas is the field spec.replicas of an object that can be scaled, an *int32.
func replicas(obj Object) reflect.Value {
	return reflect.ValueOf(obj).Elem().FieldByName("Spec").FieldByName("Replicas")
}
