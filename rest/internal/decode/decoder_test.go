package decode

import (
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/internal/quantity"
	"github.com/kinform/kinform/rest/internal/wire"
)

// TestUnsupportedTypeIsDecodedByItsOwnMethod: a later k8s.io/api may have a type that the Decoder
// cannot decode.
func TestUnsupportedTypeIsDecodedByItsOwnMethod(t *testing.T) {
	t.Parallel()
	type unknown struct {
		Float float64 `protobuf:"fixed64,1,opt,name=float"`
	}
	own := 0
	d := Decoder{protobuf: bySharing, single: byType, tables: &Tables{}, guard: new(quantity.Guard), Type: Type{
		Unmarshal: func([]byte, any) error {
			own++
			return errors.New("its own")
		},
	}}
	decode := func(data []byte, object any) error { return d.decodeProtobuf(d.protobuf, data, object, nil) }
	for i := range 2 {
		require.EqualError(t, decode(nil, &unknown{}), "its own")
		require.Equal(t, i+1, own)
	}
	require.ErrorContains(t, decode([]byte("\x08\x01"), &corev1.Pod{}), "wire type")
	require.Equal(t, 2, own, "malformed bytes of a supported type must not reach the fallback")
	require.False(t, IsGenerated(reflect.TypeFor[unknown]()))
}

// If a value does not fit its field, the error names the field, with sharing as without.
func TestDefaultDecoderErrorsNameTheField(t *testing.T) {
	t.Parallel()
	pod := Type{Go: reflect.TypeFor[*corev1.Pod]()}
	shared := newDecoder(pod, &Tables{}, new(quantity.Guard), Options{Share: true})
	_, err := shared.Decode(wire.JSON, []byte(`{"spec":{"nodeName":5}}`), nil)
	require.ErrorContains(t, err, "PodSpec.spec.nodeName of type string")
	own := newDecoder(pod, &Tables{}, new(quantity.Guard), Options{})
	_, unshared := own.Decode(wire.JSON, []byte(`{"spec":{"nodeName":5}}`), nil)
	require.EqualError(t, err, unshared.Error())
}

func TestStatusFieldIsFoundByType(t *testing.T) {
	t.Parallel()
	require.Zero(t, statusNumber(reflect.TypeFor[map[string]any]()))
	require.EqualValues(t, 3, statusNumber(reflect.TypeFor[*corev1.Node]()))
}
