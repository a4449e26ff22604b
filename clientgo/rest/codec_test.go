package rest

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	kinform "github.com/kinform/kinform/rest"
)

// targetZeroingDecoder is a copy of controller-runtime's decoder in another package.
type targetZeroingDecoder struct{ upstream runtime.Decoder }

func (t targetZeroingDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	return t.upstream.Decode(data, defaults, into)
}

type converting struct{ runtime.Decoder }

func TestCodecsThatAreKnown(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	codecs := serializer.NewCodecFactory(scheme)
	json, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	yaml, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeYAML)
	protobuf, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)

	c, ok := codecOf(codecs.WithoutConversion().DecoderToVersion(json.Serializer, nil))
	require.True(t, ok)
	require.Equal(t, codec{encoding: kinform.JSON, versionless: true}, c)
	c, ok = codecOf(protobuf.Serializer)
	require.True(t, ok)
	require.Equal(t, codec{encoding: kinform.Protobuf}, c)
	for name, decoder := range map[string]runtime.Decoder{
		"yaml": yaml.Serializer, "strict": json.StrictSerializer, "with conversion": codecs.UniversalDeserializer(),
		"to a version": codecs.DecoderToVersion(json.Serializer, corev1.SchemeGroupVersion), "a program's": converting{json.Serializer}, "none": nil,
		"of another package": targetZeroingDecoder{json.Serializer},
	} {
		_, ok = codecOf(decoder)
		require.False(t, ok, name)
	}

	path := reflect.TypeFor[targetZeroingDecoder]().PkgPath()
	require.Equal(t, runtime.Decoder(json.Serializer), unwrapDecoder(targetZeroingDecoder{json.Serializer}, path))
	require.Nil(t, unwrapDecoder(&targetZeroingDecoder{json.Serializer}, path))
	require.Nil(t, unwrapDecoder(converting{json.Serializer}, path))
}
