package dynamic

import (
	"encoding/json"
	"reflect"
	"sync"

	"k8s.io/client-go/internal/codec"
	"k8s.io/client-go/internal/sink"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// version is the API version of the types that all servers share, such as options, Status and
	// WatchEvent.
	version = schema.GroupVersion{Version: "v1"}
	codecs  = sync.OnceValue(func() *codec.Codecs {
		scheme := runtime.NewScheme()
		metav1.AddToGroupVersion(scheme, version)
		return codec.New(scheme)
	})
)

// negotiated encodes and decodes JSON. It decodes a Status to its Go type, and everything else to
// unstructured objects.
type negotiated struct{ runtime.NegotiatedSerializer }

func newSerializer() runtime.NegotiatedSerializer { return negotiated{codecs()} }

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (n negotiated) SupportedMediaTypes() []runtime.SerializerInfo {
	for _, info := range n.NegotiatedSerializer.SupportedMediaTypes() {
		if info.MediaType == runtime.ContentTypeJSON {
			return []runtime.SerializerInfo{info}
		}
	}
	return nil
}

// DecoderToVersion implements runtime.NegotiatedSerializer.
func (n negotiated) DecoderToVersion(decoder runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	return jsonDecoder{decoder}
}

// jsonDecoder decodes into unstructured objects. The decoder in its field typed decodes a Status,
// and any typed object.
type jsonDecoder struct{ typed runtime.Decoder }

// Sharing implements sink.Decoder.
func (d jsonDecoder) Sharing() sink.Sharing {
	return sink.Sharing{Decoder: d.typed, Object: reflect.TypeFor[*unstructured.Unstructured]()}
}

// Decode implements runtime.Decoder.
func (d jsonDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	switch into.(type) {
	case nil:
		var of metav1.TypeMeta
		if err := json.Unmarshal(data, &of); err == nil && of.Kind == "Status" && (of.APIVersion == "v1" || of.APIVersion == "") {
			return d.typed.Decode(data, defaults, nil)
		}
	case runtime.Unstructured:
	default:
		return d.typed.Decode(data, defaults, into)
	}
	return unstructured.UnstructuredJSONScheme.Decode(data, defaults, into)
}
