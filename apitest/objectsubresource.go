package apitest

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest/internal/admission"
	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/discovery"
	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
)

// objectSubresource returns a subresource whose objects are objects of the resource itself. A write
// to it changes only some fields of the object: see [mergeFuncs].
func objectSubresource(name string, of storage.Flags, kind schema.GroupVersionKind, verbs metav1.Verbs) subresource {
	return subresource{discovery.Subresource{Name: name, Kind: kind, Verbs: verbs}, of, func(s *Server, w http.ResponseWriter, req *Request) error {
		for _, verb := range verbs {
			if verb == req.Verb {
				return s.serveObjectSubresource(w, req)
			}
		}
		return wire.NewMethodNotAllowed()
	}}
}

func (s *Server) serveObjectSubresource(w http.ResponseWriter, req *Request) error {
	switch req.Verb {
	case "get":
		return s.get(w, req)
	case "update":
		return s.update(w, req)
	default:
		return s.patch(w, req)
	}
}

// mergeFuncs has a function for each subresource. The function applies a write to the stored
// object, or returns an error if the write is invalid.
var mergeFuncs = map[string]func(old, sent Object) error{
	"ephemeralcontainers": func(old, sent Object) error {
		return admission.AddEphemeralContainers(old.(*corev1.Pod), sent.(*corev1.Pod))
	},
	"resize": func(old, sent Object) error { return admission.Resize(old.(*corev1.Pod), sent.(*corev1.Pod)) },
	"finalize": func(old, sent Object) error {
		old.(*corev1.Namespace).Spec.Finalizers = sent.(*corev1.Namespace).Spec.Finalizers
		return nil
	},
	"status": func(old, sent Object) error {
		apiobject.CopyStatus(old, sent)
		return nil
	},
}

// merge returns the new state of an object after a write through the main resource or a
// subresource. A write changes only the fields that belong to its resource or subresource.
func merge(req *Request, old, sent Object) (Object, error) {
	if mergeFunc := mergeFuncs[req.Subresource]; mergeFunc != nil {
		err := mergeFunc(old, sent)
		old.SetResourceVersion(sent.GetResourceVersion())
		old.SetUID(sent.GetUID())
		return old, err
	}
	keepManagedFields(sent, old)
	if req.res.Status {
		apiobject.CopyStatus(sent, old)
	}
	if ns, ok := sent.(*corev1.Namespace); ok {
		ns.Spec.Finalizers = old.(*corev1.Namespace).Spec.Finalizers
	}
	if v := sent.GetResourceVersion(); v != "" && v != old.GetResourceVersion() {
		return sent, nil // The write is a conflict, so nothing else is checked.
	}
	return sent, admission.ValidateChanged(req.res, old, sent)
}
