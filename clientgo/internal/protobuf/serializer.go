package protobuf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/rest/sharing"
)

// Types is the part of a runtime.Scheme that a serializer uses.
type Types interface {
	runtime.ObjectCreater
	runtime.ObjectTyper
}

// prefix begins every object encoded in protobuf.
var prefix = []byte("k8s\x00")

// Serializer encodes and decodes objects wrapped in a runtime.Unknown, which has their kind.
type Serializer struct{ types Types }

// NewSerializer returns a Serializer.
func NewSerializer(types Types) *Serializer { return &Serializer{types} }

// Identifier implements runtime.Encoder.
func (s *Serializer) Identifier() runtime.Identifier { return "protobuf" }

// RecognizesData implements recognizer.RecognizingDecoder.
func (s *Serializer) RecognizesData(data []byte) (is, unknown bool, err error) {
	return bytes.HasPrefix(data, prefix), false, nil
}

// Encode implements runtime.Encoder.
func (s *Serializer) Encode(object runtime.Object, w io.Writer) error {
	whole, is := object.(*runtime.Unknown)
	if !is {
		data, err := encode(object)
		if err != nil {
			return err
		}
		kind := object.GetObjectKind().GroupVersionKind()
		whole = &runtime.Unknown{TypeMeta: runtime.TypeMeta{Kind: kind.Kind, APIVersion: kind.GroupVersion().String()}, Raw: data}
	}
	data := make([]byte, len(prefix)+whole.Size())
	n, err := whole.MarshalToSizedBuffer(data[len(prefix):])
	if err != nil {
		return err
	}
	copy(data, prefix)
	_, err = w.Write(data[:len(prefix)+n])
	return err
}

// Decode implements runtime.Decoder.
func (s *Serializer) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	message, ok := bytes.CutPrefix(data, prefix)
	switch {
	case !ok:
		return nil, nil, fmt.Errorf("the data is no protobuf message of Kubernetes, which begins with %v", prefix)
	case len(message) == 0:
		return nil, nil, errors.New("empty body")
	}
	var whole runtime.Unknown
	if err := whole.Unmarshal(message); err != nil {
		return nil, nil, err
	}
	kind := completed(whole.GroupVersionKind(), defaults)
	if unknown, ok := into.(*runtime.Unknown); ok && unknown != nil {
		*unknown = whole
		if bytes.HasPrefix(whole.Raw, prefix) {
			unknown.ContentType = runtime.ContentTypeProtobuf
		}
		return unknown, &kind, nil
	}
	return decode(s.types, whole.Raw, kind, into)
}

// Raw encodes and decodes objects without the wrapper, as in the frames of a watch.
type Raw struct{ types Types }

// NewRaw returns a Raw.
func NewRaw(types Types) *Raw { return &Raw{types} }

// Identifier implements runtime.Encoder.
func (r *Raw) Identifier() runtime.Identifier { return "raw-protobuf" }

// Encode implements runtime.Encoder.
func (r *Raw) Encode(object runtime.Object, w io.Writer) error {
	data, err := encode(object)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// Decode implements runtime.Decoder. The argument into must not be nil, because only its type
// determines how to decode.
func (r *Raw) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	switch {
	case into == nil:
		return nil, nil, errors.New("there must be an object to decode into: a message without a kind does not say its type")
	case len(data) == 0:
		return nil, nil, errors.New("empty data")
	}
	kind := completed(schema.GroupVersionKind{}, defaults)
	if unknown, ok := into.(*runtime.Unknown); ok && unknown != nil {
		unknown.Raw, unknown.ContentEncoding, unknown.ContentType = data, "", runtime.ContentTypeProtobuf
		unknown.SetGroupVersionKind(kind)
		return unknown, &kind, nil
	}
	return decode(r.types, data, kind, into)
}

// completed fills the empty fields of a kind from the defaults.
func completed(kind schema.GroupVersionKind, defaults *schema.GroupVersionKind) schema.GroupVersionKind {
	if defaults == nil {
		return kind
	}
	if kind.Kind == "" {
		kind.Kind = defaults.Kind
	}
	if kind.Version == "" && defaults.Version != "" {
		kind.Group, kind.Version = defaults.Group, defaults.Version
	}
	return kind
}

// decode decodes a message with the given kind. If the argument into has this kind, decode decodes
// into it, and otherwise into a new object.
func decode(types Types, data []byte, kind schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if into != nil {
		known, _, err := types.ObjectKinds(into)
		switch {
		case runtime.IsNotRegisteredError(err):
			return unmarshal(data, kind, into)
		case err != nil:
			return nil, &kind, err
		}
		if kind = completed(kind, &known[0]); kind.Version == "" && kind.Group == "" {
			kind.Group = known[0].Group
		}
	}
	if kind.Kind == "" {
		return nil, &kind, runtime.NewMissingKindErr("a message in protobuf")
	}
	if kind.Version == "" {
		return nil, &kind, runtime.NewMissingVersionErr("a message in protobuf")
	}
	object, err := runtime.UseOrCreateObject(types, types, kind, into)
	if err != nil {
		return nil, &kind, err
	}
	object, of, err := unmarshal(data, kind, object)
	if err == nil {
		object.GetObjectKind().SetGroupVersionKind(kind)
	}
	return object, of, err
}

// decoder decodes objects. The objects share no parts, so that the caller owns them.
var decoder = sharing.New(sharing.Options{MaxBytes: -1})

func unmarshal(data []byte, kind schema.GroupVersionKind, object runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	v, err := structOf(object)
	if err != nil {
		return nil, &kind, err
	}
	v.SetZero()
	err = decoder.DecodeProtobuf(data, object, nil)
	if errors.Is(err, sharing.ErrType) {
		err = fmt.Errorf("%w: %w", notMarshalable{reflect.TypeOf(object)}, err)
	}
	if err != nil {
		return nil, &kind, err
	}
	return object, &kind, nil
}
