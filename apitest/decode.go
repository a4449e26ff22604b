package apitest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
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
		return wire.JSONType
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
func (r *Request) read(res *storage.Resource) (Object, error) {
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
			return nil, wire.NewOtherNamespace()
		}
		obj.SetNamespace("")
	}
	return obj, nil
}

// decode decodes an object of a resource. The Content-Type of the request names the encoding.
func (r *Request) decode(res *storage.Resource, data []byte) (Object, error) {
	strict := r.query.Get("fieldValidation") == "Strict"
	switch mediaType := r.mediaType(); {
	case mediaType == wire.JSONType:
		return res.DecodeJSON(data, strict)
	case mediaType == wire.YAMLType:
		data, err := yaml.YAMLToJSON(data)
		if err != nil {
			return nil, res.Undecodable(err)
		}
		return res.DecodeJSON(data, strict)
	case mediaType == wire.ProtobufType && res.Protobuf():
		return res.DecodeProto(data)
	}
	return nil, wire.NewUnsupportedBody(res.Protobuf())
}

// deleteOptions reads the options in the body of a delete. The body may be empty.
func (r *Request) deleteOptions() (opts metav1.DeleteOptions, err error) {
	data, err := r.body()
	if err != nil || len(data) == 0 {
		return opts, err
	}
	switch r.mediaType() {
	case wire.JSONType:
		err = utiljson.Unmarshal(data, &opts)
	case wire.YAMLType:
		err = yaml.Unmarshal(data, &opts)
	case wire.ProtobufType:
		var unknown runtime.Unknown
		if raw, ok := bytes.CutPrefix(data, []byte(apiobject.ProtobufMagic)); !ok {
			err = errors.New("the body is not a protobuf message")
		} else if err = unknown.Unmarshal(raw); err == nil {
			err = opts.Unmarshal(unknown.Raw)
		}
	default:
		return opts, wire.NewUnsupportedBody(true)
	}
	if err != nil {
		return opts, apierrors.NewBadRequest("DeleteOptions: " + err.Error())
	}
	return opts, nil
}
