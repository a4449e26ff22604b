package codec

import (
	"errors"
	"net/url"

	"k8s.io/apimachinery/pkg/conversion/queryparams"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Parameters encodes options as query parameters. It ignores the requested version, because the
// options of typed clients have only one version.
var Parameters runtime.ParameterCodec = parameters{}

type parameters struct{}

// EncodeParameters implements runtime.ParameterCodec.
func (parameters) EncodeParameters(options runtime.Object, _ schema.GroupVersion) (url.Values, error) {
	return queryparams.Convert(options)
}

// DecodeParameters implements runtime.ParameterCodec. It always returns an error, because clients
// only encode.
func (parameters) DecodeParameters(url.Values, schema.GroupVersion, runtime.Object) error {
	return errors.New("the options of a typed client are encoded only")
}
