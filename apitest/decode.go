package apitest

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
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
	"sigs.k8s.io/yaml"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/crdschema"
)

// maxBody is the maximum size of a request body in bytes, as on the real server.
const maxBody = 3 << 20

// body reads the body of the request.
func (r *Request) body() ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(nil, r.HTTP.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	if err != nil {
		return nil, apierrors.NewBadRequest("reading the body: " + err.Error())
	}
	return data, nil
}

// mediaType returns the type of the body, without parameters.
func (r *Request) mediaType() string {
	header := r.HTTP.Header.Get("Content-Type")
	if header == "" {
		return jsonType
	}
	mediaType, _, err := mime.ParseMediaType(header)
	if err != nil {
		return header
	}
	return mediaType
}

// object reads the body of a create or an update.
func (r *Request) object() (Object, error) { return r.read(r.res) }

// read reads an object of a resource.
func (r *Request) read(res *resource) (Object, error) {
	data, err := r.body()
	if err != nil {
		return nil, err
	}
	obj, err := r.decode(res, data)
	if err != nil {
		return nil, err
	}
	switch obj.GetNamespace() {
	case r.Namespace:
	case "":
		obj.SetNamespace(r.Namespace)
	default:
		if !res.ClusterScoped {
			return nil, errOtherNamespace()
		}
		obj.SetNamespace("")
	}
	return obj, nil
}

// decode decodes an object of a resource. The Content-Type of the request names the encoding.
func (r *Request) decode(res *resource, data []byte) (Object, error) {
	strict := r.query.Get("fieldValidation") == "Strict"
	switch mediaType := r.mediaType(); {
	case mediaType == jsonType:
		return res.decodeJSON(data, strict)
	case mediaType == yamlType:
		data, err := yaml.YAMLToJSON(data)
		if err != nil {
			return nil, res.undecodable(err)
		}
		return res.decodeJSON(data, strict)
	case mediaType == protobufType && res.protobuf():
		return res.decodeProto(data)
	}
	return nil, errUnsupportedBody(res.protobuf())
}

// decodeJSON decodes an object of the resource. Kind and apiVersion may be missing if the type is
// built in. If strict is true, unknown and repeated fields are errors.
func (r *resource) decodeJSON(data []byte, strict bool) (Object, error) {
	obj := r.new()
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
		return nil, r.undecodable(err)
	}
	if obj, err = r.checkType(obj); err != nil {
		return nil, err
	}
	if paths := r.schema.Normalize(obj); strict && len(paths) > 0 {
		return nil, r.undecodable(errors.New(crdschema.UnknownFieldsText(paths)))
	}
	return obj, nil
}

// decodeProto decodes an object of a built-in type from its envelope.
func (r *resource) decodeProto(data []byte) (Object, error) {
	raw, ok := bytes.CutPrefix(data, []byte(protobufMagic))
	if !ok {
		return nil, apierrors.NewBadRequest("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
	}
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(raw); err != nil {
		return nil, r.undecodable(err)
	}
	obj := r.new()
	if err := obj.(apiobject.Message).Unmarshal(unknown.Raw); err != nil {
		return nil, r.undecodable(err)
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(unknown.APIVersion, unknown.Kind))
	return r.checkType(obj)
}

// checkType checks the kind and apiVersion of an object. It then removes both from an object of a
// built-in type, because the server stores these objects without them.
func (r *resource) checkType(obj Object) (Object, error) {
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
		return nil, r.undecodable(fmt.Errorf("metadata: %w", err))
	}
	if r.gvk == crdKind && gvk.Empty() { // The real server has a Go type for CRDs.
		obj.GetObjectKind().SetGroupVersionKind(r.gvk)
		return obj, nil
	}
	if gvk != r.gvk && (gvk.GroupKind() != r.gvk.GroupKind() || !slices.Contains(r.otherVersions, gvk.GroupVersion())) {
		return nil, apierrors.NewBadRequest(fmt.Sprintf(
			"the object provided is a %s of %q, but the resource %s holds a %s of %q",
			gvk.Kind, gvk.GroupVersion(), r.Plural, r.Kind, r.gvk.GroupVersion()))
	}
	return obj, nil
}

func (r *resource) undecodable(err error) error {
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

// deleteOptions reads the options in the body of a delete. The body may be empty.
func (r *Request) deleteOptions() (opts metav1.DeleteOptions, err error) {
	data, err := r.body()
	if err != nil || len(data) == 0 {
		return opts, err
	}
	switch r.mediaType() {
	case jsonType:
		err = utiljson.Unmarshal(data, &opts)
	case yamlType:
		err = yaml.Unmarshal(data, &opts)
	case protobufType:
		var unknown runtime.Unknown
		if raw, ok := bytes.CutPrefix(data, []byte(protobufMagic)); !ok {
			err = errors.New("the body is not a protobuf message")
		} else if err = unknown.Unmarshal(raw); err == nil {
			err = opts.Unmarshal(unknown.Raw)
		}
	default:
		return opts, errUnsupportedBody(true)
	}
	if err != nil {
		return opts, apierrors.NewBadRequest("DeleteOptions: " + err.Error())
	}
	return opts, nil
}
