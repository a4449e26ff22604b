package tcpproxy_test

import (
	"context"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kinform/kinform/internal/testing/tcpproxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const text = "the quick brown fox"

// start starts a server behind a proxy, and returns a connection through the proxy. The server
// waits for one byte, and sends text. Then it sends back everything that it receives.
func start(t *testing.T, fault tcpproxy.Fault) (*tcpproxy.Proxy, net.Conn) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var group sync.WaitGroup
	group.Go(func() {
		conn, err := server.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.ReadFull(conn, make([]byte, 1))
		_, _ = io.WriteString(conn, text)
		_, _ = io.Copy(conn, conn)
	})
	proxy := tcpproxy.New(func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", server.Addr().String())
	}, func(int) tcpproxy.Fault { return fault })
	t.Cleanup(func() {
		proxy.Close()
		_ = server.Close()
		group.Wait()
	})
	address, err := proxy.Listen()
	require.NoError(t, err)
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	// Without this byte, a reset could already break the dialing.
	_, err = io.WriteString(conn, "!")
	require.NoError(t, err)
	return proxy, conn
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault tcpproxy.Fault
		want  string
		err   error
	}{
		{tcpproxy.Fault{}, text, os.ErrDeadlineExceeded},
		{tcpproxy.Fault{Kind: tcpproxy.Trickle, After: 3, Pause: time.Microsecond}, text, os.ErrDeadlineExceeded},
		{tcpproxy.Fault{Kind: tcpproxy.Corrupt, After: 4, Bit: 4}, strings.Replace(text, "q", "a", 1), os.ErrDeadlineExceeded},
		{tcpproxy.Fault{Kind: tcpproxy.Stall, After: 3}, "the", os.ErrDeadlineExceeded},
		{tcpproxy.Fault{Kind: tcpproxy.Stall}, "", os.ErrDeadlineExceeded},
		{tcpproxy.Fault{Kind: tcpproxy.Cut, After: 3}, "the", nil},
		{tcpproxy.Fault{Kind: tcpproxy.Reset}, "", syscall.ECONNRESET},
	} {
		t.Run(test.fault.Kind.String(), func(t *testing.T) {
			t.Parallel()
			_, conn := start(t, test.fault)
			require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
			got := make([]byte, len(test.want))
			_, err := io.ReadFull(conn, got)
			require.NoError(t, err)
			require.Equal(t, test.want, string(got))
			if test.err == os.ErrDeadlineExceeded {
				// The connection stays open without more bytes. In the other cases it ends.
				require.NoError(t, conn.SetDeadline(time.Now().Add(100*time.Millisecond)))
			}
			more, err := io.ReadAll(conn)
			require.Empty(t, more)
			require.ErrorIs(t, err, test.err)
		})
	}
}

func TestStallAndResetOfOpenConnections(t *testing.T) {
	t.Parallel()
	proxy, conn := start(t, tcpproxy.Fault{})
	received := make([]byte, len(text))
	_, err := io.ReadFull(conn, received)
	require.NoError(t, err)
	proxy.Stall()
	_, err = io.WriteString(conn, "anyone?")
	require.NoError(t, err, "a half-open connection must accept data")
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err = conn.Read(received)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	proxy.Reset()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = conn.Read(received)
	require.ErrorIs(t, err, syscall.ECONNRESET)
	require.Equal(t, 1, proxy.Connections())
}

func TestFaultMayUseTheProxy(t *testing.T) {
	t.Parallel()
	var proxy *tcpproxy.Proxy
	var asked []int
	proxy = tcpproxy.New(func(context.Context, string, string) (net.Conn, error) { near, _ := net.Pipe(); return near, nil },
		func(n int) tcpproxy.Fault {
			proxy.Reset() // would block if the proxy held its lock
			asked = append(asked, n, proxy.Connections())
			return tcpproxy.Fault{}
		})
	defer proxy.Close()
	for range 3 {
		conn, err := proxy.DialContext(t.Context(), "tcp", "anywhere:1")
		require.NoError(t, err)
		defer conn.Close()
	}
	require.Equal(t, []int{0, 0, 1, 1, 2, 2}, asked)
	proxy.Close()
	_, err := proxy.DialContext(t.Context(), "tcp", "anywhere:1")
	require.ErrorIs(t, err, tcpproxy.ErrClosed)
}

func TestConnectionsWithinTheProcessWorkInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, far := net.Pipe()
		go func() { _, _ = io.WriteString(server, text) }()
		proxy := tcpproxy.New(func(context.Context, string, string) (net.Conn, error) { return far, nil },
			func(int) tcpproxy.Fault { return tcpproxy.Fault{Kind: tcpproxy.Trickle, After: 3, Pause: time.Hour} })
		defer proxy.Close()
		conn, err := proxy.DialContext(t.Context(), "tcp", "anywhere:1")
		require.NoError(t, err)
		began := time.Now()
		received := make([]byte, len(text))
		_, err = io.ReadFull(conn, received)
		require.NoError(t, err)
		require.Equal(t, text, string(received))
		require.Equal(t, time.Duration(len(text)-4)*time.Hour, time.Since(began))
		_ = server.Close()
	})
}
