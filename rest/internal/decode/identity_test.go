package decode

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/rest/internal/wire"
)

// identified returns a pod with an identity, and its encodings.
func identified(t *testing.T) (pod *corev1.Pod, encoded map[wire.Encoding][]byte) {
	t.Helper()
	pod = &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1", UID: "4711", ResourceVersion: "12345"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: strings.Repeat("x", 200)}}},
	}
	inProtobuf, err := pod.Marshal()
	require.NoError(t, err)
	inJSON, err := json.Marshal(pod)
	require.NoError(t, err)
	return pod, map[wire.Encoding][]byte{wire.Protobuf: inProtobuf, wire.JSON: inJSON}
}

func TestKeySharesStringsWithTheObject(t *testing.T) {
	pod, encoded := identified(t)
	id := identify(wire.Protobuf, encoded[wire.Protobuf], false)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if key, version := id.keyOf(pod); key.Name != pod.Name || version != pod.ResourceVersion {
			t.Error("another identity")
		}
	}))
	renamed := *pod
	renamed.Name = "a transform may do that"
	key, _ := id.keyOf(&renamed)
	require.Equal(t, pod.Name, key.Name)
}

func TestMalformedObjectStillHasItsKey(t *testing.T) {
	t.Parallel()
	pod, encoded := identified(t)
	for e, object := range encoded {
		id := identify(e, object[:len(object)-100], false)
		key, version := id.copyKey()
		require.Equal(t, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, key)
		require.Equal(t, pod.ResourceVersion, version)
	}
}
