package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// subresource is a subresource other than status, whose type is not that of the
// object. It is answered in JSON.
type subresource struct {
	name   string
	kind   schema.GroupVersionKind
	verbs  metav1.Verbs
	of     flags // of which types it is one
	answer func(*Server, http.ResponseWriter, *Request) error
}

var subresources = []subresource{
	{"scale", autoscalingv1.SchemeGroupVersion.WithKind("Scale"), statusVerbs, scalable, (*Server).scale},
	{"eviction", policyv1.SchemeGroupVersion.WithKind("Eviction"), metav1.Verbs{"create"}, evictable, (*Server).evict},
}

// subresources are those of the resource.
func (r *resource) subresources() []subresource {
	var all []subresource
	for _, sub := range subresources {
		if r.flags&sub.of != 0 || sub.of == scalable && r.defined.Subresources.Scale != nil {
			all = append(all, sub)
		}
	}
	return all
}

// scale answers a request about how many replicas there are to be.
func (s *Server) scale(w http.ResponseWriter, req *Request) error {
	var change func(doc []byte) ([]byte, error)
	var err error
	switch req.Verb {
	case "get":
		rev := s.store.get(req.res, req.key())
		if rev == nil {
			return apierrors.NewNotFound(req.res.groupResource(), req.Name)
		}
		writeJSON(w, http.StatusOK, req.res.scaleOf(rev.object()))
		return nil
	case "update":
		var body []byte
		body, err = req.body()
		change = func([]byte) ([]byte, error) { return body, nil }
	case "patch":
		change, err = patcher(req)
	default:
		err = errMethodNotAllowed()
	}
	if err != nil {
		return err
	}
	rev, err := s.modify(req.res, req.key(), req.dryRun(), func(old *revision) (Object, error) {
		obj := old.object()
		doc, err := change(mustJSON(req.res.scaleOf(obj)))
		if err != nil {
			return nil, err
		}
		var scale autoscalingv1.Scale
		if err := json.Unmarshal(doc, &scale); err != nil {
			return nil, apierrors.NewBadRequest("decoding the scale: " + err.Error())
		}
		if scale.Name != req.Name {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", scale.Name, req.Name))
		}
		obj.SetResourceVersion(scale.ResourceVersion)
		if u, ok := obj.(*unstructured.Unstructured); ok {
			return obj, req.res.defined.Subresources.Scale.write(u, scale.Spec.Replicas)
		}
		replicas(obj).Set(reflect.ValueOf(&scale.Spec.Replicas))
		return obj, nil
	})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, req.res.scaleOf(rev.object()))
	return nil
}

// scaleOf is the part of an object that says how many replicas there are to be.
func (r *resource) scaleOf(obj Object) autoscalingv1.Scale {
	scale := autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{Kind: "Scale", APIVersion: autoscalingv1.SchemeGroupVersion.String()},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(),
			ResourceVersion: obj.GetResourceVersion(), CreationTimestamp: obj.GetCreationTimestamp(),
		},
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		r.defined.Subresources.Scale.read(u, &scale)
		return scale
	}
	scale.Status.Replicas = int32(statusOf(obj).FieldByName("Replicas").Int())
	if n := replicas(obj); !n.IsNil() {
		scale.Spec.Replicas = int32(n.Elem().Int())
	}
	return scale
}

// replicas is the field spec.replicas of an object that can be scaled, an *int32.
func replicas(obj Object) reflect.Value {
	return reflect.ValueOf(obj).Elem().FieldByName("Spec").FieldByName("Replicas")
}

// evict deletes a pod. There are no disruption budgets.
func (s *Server) evict(w http.ResponseWriter, req *Request) error {
	if req.Verb != "create" {
		return errMethodNotAllowed()
	}
	body, err := req.body()
	if err != nil {
		return err
	}
	var eviction policyv1.Eviction
	if err := json.Unmarshal(body, &eviction); err != nil {
		return apierrors.NewBadRequest("decoding the eviction: " + err.Error())
	}
	var opts metav1.DeleteOptions
	if eviction.DeleteOptions != nil {
		opts = *eviction.DeleteOptions
	}
	if req.dryRun() {
		opts.DryRun = []string{metav1.DryRunAll}
	}
	if _, _, err := s.remove(req.res, req.key(), opts); err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, withType(metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated}))
	return nil
}

func writeJSON(w http.ResponseWriter, code int, doc any) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(code)
	_, _ = w.Write(append(mustJSON(doc), '\n'))
}
