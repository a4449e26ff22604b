package rest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/decode"
	"github.com/kinform/kinform/rest/internal/wire"
)

// The client computes the hash of the UID from the bytes. So it does not matter whether the object
// is decoded, and whether the decoded object has its UID.
func TestEveryItemHasUIDHash(t *testing.T) {
	t.Parallel()
	pod := plainPod(1)
	want := listwatch.HashUID(pod.UID)
	require.NotZero(t, want)
	known := func(knows bool) decode.KnownFunc {
		return func(_ types.NamespacedName, _ string, uidHash uint64) bool {
			require.Equal(t, want, uidHash)
			return knows
		}
	}
	for _, e := range encodings {
		body := encode(t, JSON, "Pod", &pod)
		if e == Protobuf {
			body = marshal(t, &pod)
		}
		list := &wire.Envelope{Kind: "PodList", APIVersion: "v1"}
		x := offline(t.Context(), strings.NewReader(""))
		client := &Client{}
		check := func(item uint64, err error) {
			t.Helper()
			require.NoError(t, err)
			require.Equal(t, want, item)
		}
		for _, drop := range []Projection{nil, Omit{AllButMetadata: true}, Omit{ManagedFields: true}} {
			for _, knows := range []bool{true, false} {
				item, err := Must(NewResource[*corev1.Pod](client, podsGVR, ResourceOptions{Project: drop})).decodeItem(x, e, wire.Frame{Data: bytes.Clone(body)}, list, known(knows), nil)
				check(item.UIDHash, err)
				require.Equal(t, knows, item.State == listwatch.Unchanged)
				partial, err := Must(NewResource[*metav1.PartialObjectMetadata](client, podsGVR, ResourceOptions{Project: drop})).decodeItem(x, e, wire.Frame{Data: bytes.Clone(body)}, list, known(knows), nil)
				check(partial.UIDHash, err)
			}
		}
		if e == JSON {
			item, err := Must(NewJSONResource[*partialObject](client, podsGVR, ResourceOptions{})).decodeItem(x, e, wire.Frame{Data: bytes.Clone(body)}, list, nil, nil)
			check(item.UIDHash, err)
			u, err := Must(NewJSONResource[*unstructured.Unstructured](client, podsGVR, ResourceOptions{})).decodeItem(x, e, wire.Frame{Data: bytes.Clone(body)}, list, nil, nil)
			check(u.UIDHash, err)
		}
		_, err := pods(client).decodeItem(x, e, wire.Frame{Data: bytes.Clone(body[:len(body)-3])}, list, nil, nil)
		var unreadable *listwatch.ObjectError
		require.ErrorAs(t, err, &unreadable)
		require.Equal(t, want, unreadable.UIDHash)
	}
}
