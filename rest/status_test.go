package rest

import (
	"io"
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
	whole := 0 // where a field begins, what comes before is a message, too
	for end := range encoded {
		if h, _, _, err := nextField(encoded[whole:end], false); err == nil {
			whole += h.size + int(h.length)
		}
		_, err := readStatus(encoded[:end])
		if end == whole {
			require.NoError(t, err)
		} else {
			require.Error(t, err, "cut off within a field, after %d bytes", end)
		}
	}

	meta := metav1.ListMeta{ResourceVersion: "12", Continue: "next", RemainingItemCount: ptr.To[int64](1 << 40)}
	encoded, err = meta.Marshal()
	require.NoError(t, err)
	list, err := readListMeta(encoded)
	require.NoError(t, err)
	var around envelope
	require.NoError(t, around.take(&list))
	require.Equal(t, listwatch.ListMeta{ResourceVersion: "12", Continue: "next", RemainingItemCount: 1 << 40}, around.meta)
	_, err = readListMeta(encoded[:len(encoded)-1])
	require.ErrorIs(t, err, ErrMalformed)
	require.NotErrorIs(t, err, io.ErrUnexpectedEOF, "no connection was lost")
}

func TestFieldOfTheWrongWireTypeIsMalformed(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]string{
		"a number as text":             "\x32\x01\x07",             // code=6
		"text as a number":             "\x18\x07",                 // message=3
		"text in eight bytes":          "\x1912345678",             // message=3
		"details as a number":          "\x28\x00",                 // details=5
		"a number as text, in details": "\x2a\x03\x2a\x01\x07",     // details=5{retryAfterSeconds=5}
		"text as a number, in a cause": "\x2a\x04\x22\x02\x10\x00", // details=5{causes=4{message=2}}
	} {
		_, err := readStatus([]byte(message))
		require.Error(t, err, name)
	}
	_, err := readListMeta([]byte("\x22\x01\x07")) // remainingItemCount=4
	require.ErrorIs(t, err, ErrMalformed)
	_, err = readListMeta([]byte("\x38\x07\x3a\x00"))
	require.NoError(t, err, "unknown fields are skipped, whatever they are")
}
