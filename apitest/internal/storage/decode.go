package storage

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/json"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/crd"
	"github.com/kinform/kinform/apitest/internal/crdschema"
)

// DecodeJSON decodes an object of the resource. Kind and apiVersion may be missing if the type is
// built in. If strict is true, unknown and repeated fields are errors.
func (r *Resource) DecodeJSON(data []byte, strict bool) (apiobject.Object, error) {
	obj := r.New()
	var (
		unknown []error
		err     error
	)
	if u, ok := obj.(*unstructured.Unstructured); ok {
		u.Object = nil
		if err = utiljson.Unmarshal(data, &u.Object); err == nil && u.Object == nil {
			err = errors.New("the body is not an object")
		}
	} else if unknown, err = json.UnmarshalStrict(data, obj); err != nil {
		if parseErr := stdjson.Unmarshal(data, &kindOnly{}); parseErr != nil {
			return nil, errUnrecognized(r.Kind, data, parseErr)
		}
	}
	if err == nil && strict && len(unknown) > 0 {
		texts := make([]string, len(unknown))
		for i, u := range unknown {
			texts[i] = u.Error()
		}
		err = errors.New("strict decoding error: " + strings.Join(texts, ", "))
	}
	if err != nil {
		return nil, r.Undecodable(err)
	}
	if obj, err = r.CheckType(obj); err != nil {
		return nil, err
	}
	if paths := r.Schema.Normalize(obj); strict && len(paths) > 0 {
		return nil, r.Undecodable(errors.New(crdschema.UnknownFieldsText(paths)))
	}
	return obj, nil
}

// DecodeProto decodes an object of a built-in type from its envelope.
func (r *Resource) DecodeProto(data []byte) (apiobject.Object, error) {
	raw, ok := bytes.CutPrefix(data, []byte(apiobject.ProtobufMagic))
	if !ok {
		return nil, apierrors.NewBadRequest("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
	}
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(raw); err != nil {
		return nil, r.Undecodable(err)
	}
	obj := r.New()
	if err := obj.(apiobject.Message).Unmarshal(unknown.Raw); err != nil {
		return nil, r.Undecodable(err)
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(unknown.APIVersion, unknown.Kind))
	return r.CheckType(obj)
}

// CheckType checks the kind and apiVersion of an object. It then removes both from an object of a
// built-in type, because the server stores these objects without them.
func (r *Resource) CheckType(obj apiobject.Object) (apiobject.Object, error) {
	gvk := obj.GetObjectKind().GroupVersionKind()
	if u, ok := obj.(*unstructured.Unstructured); !ok {
		if secret, ok := obj.(*corev1.Secret); ok {
			mergeStringData(secret)
		}
		if gvk.Empty() {
			return obj, nil
		}
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	} else if err := apiobject.Remarshal(u.Object["metadata"], &metav1.ObjectMeta{}); err != nil {
		return nil, r.Undecodable(fmt.Errorf("metadata: %w", err))
	}
	if r.GVK == crd.Kind && gvk.Empty() { // The real server has a Go type for CRDs.
		obj.GetObjectKind().SetGroupVersionKind(r.GVK)
		return obj, nil
	}
	if gvk != r.GVK && (gvk.GroupKind() != r.GVK.GroupKind() || !slices.Contains(r.OtherVersions, gvk.GroupVersion())) {
		return nil, apierrors.NewBadRequest(fmt.Sprintf(
			"the object provided is a %s of %q, but the resource %s holds a %s of %q",
			gvk.Kind, gvk.GroupVersion(), r.Plural, r.Kind, r.GVK.GroupVersion()))
	}
	return obj, nil
}

// Undecodable returns the error for a body that is not an object of the resource.
func (r *Resource) Undecodable(err error) error {
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", r.Kind, r.Version, r.Kind, err))
}

// kindOnly is the part of a body that the real server decodes first. The type has no name, because
// the error messages of the real server print it without one.
type kindOnly = struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
}

// errUnrecognized reports that a body is not JSON, or not an object.
func errUnrecognized(kind string, data []byte, err error) error {
	const shown = 30
	text, more := "<empty>", ""
	if len(data) > shown {
		data, more = data[:shown], " ..."
	}
	switch {
	case len(data) == 0:
	case data[0] == '{':
		text = string(data) + more
	default:
		text = fmt.Sprintf("%x", data) + more
	}
	return apierrors.NewBadRequest(fmt.Sprintf(
		"the object provided is unrecognized (must be of type %s): couldn't get version/kind; json parse error: %v (%s)", kind, err, text))
}
