package connrotation

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAllConnectionsAreClosedAndNoneIsKept(t *testing.T) {
	var far []net.Conn
	d := NewDialer(func(context.Context, string, string) (net.Conn, error) {
		near, other := net.Pipe()
		far = append(far, other)
		return near, nil
	})
	first, err := d.Dial("tcp", "a")
	require.NoError(t, err)
	second, err := d.DialContext(t.Context(), "tcp", "a")
	require.NoError(t, err)
	require.NoError(t, first.Close())
	require.Len(t, d.open, 1)
	d.CloseAll()
	require.Empty(t, d.open)
	_, err = second.Write([]byte("x"))
	require.Error(t, err)
	third, err := d.Dial("tcp", "a")
	require.NoError(t, err)
	require.NoError(t, third.Close())
	for _, conn := range far {
		require.NoError(t, conn.Close())
	}
}

func TestTrackersAreShared(t *testing.T) {
	tracker := NewConnectionTracker()
	failing := NewDialerWithTracker(func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no") }, tracker)
	_, err := failing.Dial("tcp", "a")
	require.EqualError(t, err, "no")
	require.Empty(t, tracker.open)
	require.Same(t, tracker, failing.ConnectionTracker)
}
