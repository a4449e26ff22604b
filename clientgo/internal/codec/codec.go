// Package codec encodes and decodes objects like apimachinery's serializer.CodecFactory without
// conversion, in JSON, YAML and protobuf. Unlike apimachinery's codecs, it does not make the linker
// keep methods of all types; see package protobuf.
package codec

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	upstream "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/runtime/serializer/recognizer"

	"k8s.io/client-go/internal/protobuf"
)

// Types is the part of a runtime.Scheme that codecs use.
type Types = protobuf.Types

// Codecs is a runtime.NegotiatedSerializer.
type Codecs struct {
	types   Types
	accepts func() []runtime.SerializerInfo
}

// New returns the codecs of these types.
func New(types Types) *Codecs {
	return &Codecs{types, sync.OnceValue(func() []runtime.SerializerInfo { return serializers(types) })}
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (c *Codecs) SupportedMediaTypes() []runtime.SerializerInfo { return c.accepts() }

// EncoderForVersion implements runtime.NegotiatedSerializer. Encoded objects have the kind of their
// type in the given version.
func (c *Codecs) EncoderForVersion(encoder runtime.Encoder, version runtime.GroupVersioner) runtime.Encoder {
	return runtime.WithVersionEncoder{Version: version, Encoder: encoder, ObjectTyper: c.types}
}

// DecoderToVersion implements runtime.NegotiatedSerializer. It leaves the kind of decoded objects
// empty.
func (c *Codecs) DecoderToVersion(decoder runtime.Decoder, _ runtime.GroupVersioner) runtime.Decoder {
	return runtime.WithoutVersionDecoder{Decoder: decoder}
}

// Deserializer returns a decoder that detects the encoding of its input.
func (c *Codecs) Deserializer() runtime.Decoder {
	var all []runtime.Decoder
	for _, info := range c.accepts() {
		all = append(all, info.Serializer)
	}
	return recognizer.NewDecoder(all...)
}

func serializers(types Types) []runtime.SerializerInfo {
	of := func(options json.SerializerOptions) *json.Serializer {
		return json.NewSerializerWithOptions(json.DefaultMetaFactory, types, types, options)
	}
	plain, binary := of(json.SerializerOptions{}), protobuf.NewSerializer(types)
	return []runtime.SerializerInfo{
		{
			MediaType: runtime.ContentTypeJSON, MediaTypeType: "application", MediaTypeSubType: "json", EncodesAsText: true,
			Serializer:       plain,
			PrettySerializer: of(json.SerializerOptions{Pretty: true}),
			StrictSerializer: of(json.SerializerOptions{Strict: true}),
			StreamSerializer: &runtime.StreamSerializerInfo{EncodesAsText: true, Serializer: plain, Framer: json.Framer},
		}, {
			MediaType: runtime.ContentTypeYAML, MediaTypeType: "application", MediaTypeSubType: "yaml", EncodesAsText: true,
			Serializer:       of(json.SerializerOptions{Yaml: true}),
			StrictSerializer: of(json.SerializerOptions{Yaml: true, Strict: true}),
		}, {
			MediaType: runtime.ContentTypeProtobuf, MediaTypeType: "application", MediaTypeSubType: "vnd.kubernetes.protobuf",
			Serializer: binary, StrictSerializer: binary,
			StreamSerializer: &runtime.StreamSerializerInfo{Serializer: protobuf.NewRaw(types), Framer: upstream.LengthDelimitedFramer},
		},
	}
}
