//go:build !kinform_no_openapi

package protobuf_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"k8s.io/client-go/internal/protobuf"
)

// special is a type whose method Marshal does not encode what its tags describe.
type special struct {
	metav1.TypeMeta
	metav1.ObjectMeta `protobuf:"bytes,1,opt,name=metadata"`
}

func (*special) Marshal() ([]byte, error)         { return []byte("special"), nil }
func (s *special) DeepCopyObject() runtime.Object { return s }

// As in client-go, a type's own method takes precedence over its tags. A nil object is an error,
// not a panic.
func TestObjectsAreEncodedByTheirOwnMethod(t *testing.T) {
	var raw, whole bytes.Buffer
	require.NoError(t, protobuf.NewRaw(nil).Encode(&special{}, &raw))
	require.Equal(t, "special", raw.String())
	require.NoError(t, protobuf.NewSerializer(nil).Encode(&special{}, &whole))
	require.Contains(t, whole.String(), "special")
	require.ErrorContains(t, protobuf.NewRaw(nil).Encode((*corev1.Pod)(nil), &raw), "does not implement the protobuf marshalling interface")
}

func BenchmarkEncode(b *testing.B) {
	pod := &corev1.Pod{}
	filler(1).Fill(pod)
	serializer := protobuf.NewSerializer(nil)
	b.ReportAllocs()
	for b.Loop() {
		_ = serializer.Encode(pod, io.Discard)
	}
}
