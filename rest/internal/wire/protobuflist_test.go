package wire

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestListMetaRoundTripsWithApimachinery(t *testing.T) {
	t.Parallel()
	meta := metav1.ListMeta{ResourceVersion: "12", Continue: "next", RemainingItemCount: ptr.To[int64](1 << 40)}
	encoded, err := meta.Marshal()
	require.NoError(t, err)
	list, err := readListMeta(encoded)
	require.NoError(t, err)
	var around Envelope
	require.NoError(t, around.setListMeta(&list))
	require.Equal(t, Envelope{ResourceVersion: "12", Continue: "next", Remaining: 1 << 40}, around)
	_, err = readListMeta(encoded[:len(encoded)-1])
	require.ErrorIs(t, err, ErrMalformed)
	require.NotErrorIs(t, err, io.ErrUnexpectedEOF, "malformed metadata must not look like a lost connection")

	// These are fields of the wrong wire type.
	_, err = readListMeta([]byte("\x22\x01\x07")) // remainingItemCount=4
	require.ErrorIs(t, err, ErrMalformed)
	_, err = readListMeta([]byte("\x38\x07\x3a\x00"))
	require.NoError(t, err, "unknown fields of any kind must be skipped")
}
