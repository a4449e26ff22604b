package decode

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/rest/internal/wire"
)

func TestStatusRoundTripsWithApimachinery(t *testing.T) {
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
	got, err := ReadStatus(encoded)
	require.NoError(t, err)
	require.Equal(t, status, got)
	// if the message is truncated at the start of a field, the bytes before are a valid message
	whole := 0
	for end := range encoded {
		if h, _, _, err := wire.NextField(encoded[whole:end], false); err == nil {
			whole += h.Size + int(h.Length)
		}
		_, err := ReadStatus(encoded[:end])
		if end == whole {
			require.NoError(t, err)
		} else {
			require.Error(t, err, "cut off within a field, after %d bytes", end)
		}
	}
}

func TestFieldOfTheWrongWireTypeIsMalformed(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]string{
		"a number as text":    "\x32\x01\x07", // code=6
		"text as a number":    "\x18\x07",     // message=3
		"text in eight bytes": "\x1912345678", // message=3
		"details as a number": "\x28\x00",     // details=5
		// details=5{retryAfterSeconds=5}
		"a number as text, in details": "\x2a\x03\x2a\x01\x07",
		// details=5{causes=4{message=2}}
		"text as a number, in a cause": "\x2a\x04\x22\x02\x10\x00",
	} {
		_, err := ReadStatus([]byte(message))
		require.Error(t, err, name)
	}
}
