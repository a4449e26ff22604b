package metadata

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/client-go/internal/codec"
	"k8s.io/client-go/internal/sink"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

var (
	// version is the API version of the types that all servers share, such as options, Status and
	// WatchEvent.
	version = schema.GroupVersion{Version: "v1"}
	codecs  = sync.OnceValue(func() *codec.Codecs {
		scheme := runtime.NewScheme()
		utilruntime.Must(metav1.AddMetaToScheme(scheme))
		metav1.AddToGroupVersion(scheme, version)
		return codec.New(scheme)
	})
)

// metadataSerializer decodes metadata from protobuf and JSON. From JSON it also extracts the
// metadata of whole objects, for servers that do not support responses with metadata only.
type metadataSerializer struct{ runtime.NegotiatedSerializer }

func newSerializer() runtime.NegotiatedSerializer { return metadataSerializer{codecs()} }

// DecoderToVersion implements runtime.NegotiatedSerializer.
func (n metadataSerializer) DecoderToVersion(decoder runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	return wholeObjectDecoder{n.NegotiatedSerializer.DecoderToVersion(decoder, gv)}
}

// wholeObjectDecoder also decodes whole objects, whose types the wrapped decoder does not know.
type wholeObjectDecoder struct{ runtime.Decoder }

// Sharing implements sink.Decoder.
func (d wholeObjectDecoder) Sharing() sink.Sharing {
	return sink.Sharing{Decoder: d.Decoder, Object: reflect.TypeFor[*metav1.PartialObjectMetadata]()}
}

// Decode implements runtime.Decoder.
func (d wholeObjectDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	list, isList := into.(*metav1.PartialObjectMetadataList)
	if _, isObject := into.(*metav1.PartialObjectMetadata); into != nil && !isList && !isObject {
		return d.Decoder.Decode(data, defaults, into)
	}
	obj, gvk, err := d.Decoder.Decode(data, defaults, nil)
	switch {
	case err != nil && !runtime.IsNotRegisteredError(err):
		return nil, gvk, err
	case err != nil && isList:
		obj, err = metadataOfList(data)
	case err != nil:
		obj, err = metadataOfObject(data)
	}
	if err != nil {
		return nil, gvk, err
	}
	switch into := into.(type) {
	case *metav1.PartialObjectMetadata:
		if object, ok := obj.(*metav1.PartialObjectMetadata); ok {
			*into = *object
			return into, gvk, nil
		}
	case *metav1.PartialObjectMetadataList:
		if found, ok := obj.(*metav1.PartialObjectMetadataList); ok {
			*list = *found
			return list, gvk, nil
		}
	}
	if status, ok := obj.(*metav1.Status); into == nil || ok && status.Status != metav1.StatusSuccess {
		return obj, gvk, nil // the object of a watch event, or a Status
	}
	return nil, gvk, fmt.Errorf("unexpected object, expected %T but got %T", into, obj)
}

var errNotObjectMeta = errors.New("object does not appear to match the ObjectMeta schema")

// metadataOfObject decodes the metadata of a whole object.
func metadataOfObject(data []byte) (*metav1.PartialObjectMetadata, error) {
	obj := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(data, obj); err != nil {
		return nil, err
	}
	if obj.Name == "" && obj.Namespace == "" && obj.UID == "" && obj.ResourceVersion == "" {
		return nil, errNotObjectMeta
	}
	return obj, nil
}

// metadataOfList decodes the metadata of the objects in a list of whole objects.
func metadataOfList(data []byte) (*metav1.PartialObjectMetadataList, error) {
	list := &metav1.PartialObjectMetadataList{}
	if err := json.Unmarshal(data, list); err != nil {
		return nil, err
	}
	list.TypeMeta = metav1.TypeMeta{}
	return list, nil
}
