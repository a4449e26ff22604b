package protobuf_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	corev1 "k8s.io/api/core/v1"

	"k8s.io/client-go/internal/protobuf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ownMethods are the protobuf methods of the types of k8s.io/api.
type ownMethods interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

func TestAllTypesAreEncodedLikeByTheirOwnMethods(t *testing.T) {
	all := everyType(t)
	require.Greater(t, len(all), 300)
	bytes := 0
	for seed, typ := range all {
		empty := reflect.New(typ).Interface()
		equalBytes(t, empty)
		for round := range 5 {
			object := reflect.New(typ).Interface()
			filler(int64(seed*100 + round)).Fill(object)
			bytes += equalBytes(t, object)
		}
	}
	require.Greater(t, bytes, 1<<20, "the test compared too few bytes")
}

func equalBytes(t *testing.T, object any) int {
	want, err := object.(ownMethods).Marshal()
	require.NoError(t, err)
	got, err := protobuf.Marshal(object)
	require.NoError(t, err)
	if string(want) != string(got) {
		require.Equal(t, want, got, "%T", object)
	}
	return len(got)
}

func TestNonMessagesAreErrors(t *testing.T) {
	type plain struct{ Name string }
	_, err := protobuf.Marshal(&plain{})
	require.ErrorContains(t, err, "no field of protobuf_test.plain has a protobuf tag")
	_, err = protobuf.Marshal(corev1.Pod{})
	require.ErrorContains(t, err, "object v1.Pod does not implement the protobuf marshalling interface")
	_, err = protobuf.Marshal((*corev1.Pod)(nil))
	require.ErrorContains(t, err, "object *v1.Pod does not implement")
	_, err = protobuf.Marshal(nil)
	require.ErrorContains(t, err, "object <nil> does not implement")
}

func BenchmarkMarshal(b *testing.B) {
	pod := &corev1.Pod{}
	filler(1).Fill(pod)
	b.Run("by tags", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = protobuf.Marshal(pod)
		}
	})
	b.Run("by its own method", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = pod.Marshal()
		}
	})
}
