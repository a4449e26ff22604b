package rest

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kinform/kinform/listwatch"
)

func TestStatusAndListMetaAreReadAsApimachineryWritesThem(t *testing.T) {
	t.Parallel()
	status := metav1.Status{
		Status: "Failure", Message: "too old", Reason: metav1.StatusReasonExpired, Code: 410,
		Details: &metav1.StatusDetails{
			Name: "a", Group: "apps", Kind: "deployments", UID: "u", RetryAfterSeconds: 7,
			Causes: []metav1.StatusCause{
				{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "m", Field: "f"},
				{Type: "other"},
			},
		},
	}
	encoded, err := status.Marshal()
	require.NoError(t, err)
	got, err := readStatus(encoded)
	require.NoError(t, err)
	require.Equal(t, status, got)
	for end := range encoded {
		_, _ = readStatus(encoded[:end]) // Must not panic.
	}

	meta := metav1.ListMeta{ResourceVersion: "12", Continue: "next", RemainingItemCount: ptr.To[int64](1 << 40)}
	encoded, err = meta.Marshal()
	require.NoError(t, err)
	list, err := readListMeta(encoded)
	require.NoError(t, err)
	require.Equal(t, listwatch.ListMeta{ResourceVersion: "12", Continue: "next", RemainingItemCount: 1 << 40}, list)
	_, err = readListMeta(encoded[:len(encoded)-1])
	require.ErrorIs(t, err, ErrMalformed)
}
