package rest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/wire"
)

// The errors of RS-9 mean a lost connection. The other failures are examples of RS-10.
func TestIsConnectionLost(t *testing.T) {
	t.Parallel()
	for text, err := range map[string]error{
		"reset":                 &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)},
		"end":                   io.EOF,
		"end within a response": io.ErrUnexpectedEOF,
		"broken":                errors.New("http: can't write HTTP request on broken connection"),
		"server that goes away": errors.New("http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=\"\""),
		"closed":                &net.OpError{Op: "read", Net: "tcp", Err: net.ErrClosed},
		"lost":                  errors.New("http2: client connection lost"),
	} {
		require.True(t, isConnectionLost(err), text)
	}
	for text, err := range map[string]error{
		"refused":     &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		"timeout":     &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded},
		"no response": errHeaderTimeout,
		"cancelled":   context.Canceled,
		"malformed":   wire.Malformed("the body ends within the list"),
		"name":        &net.DNSError{Name: "nowhere", IsNotFound: true},
	} {
		require.False(t, isConnectionLost(err), text)
	}
}

// The error text does not depend on what the client was reading, and does not blame the server.
func TestConnectionLostWithinAResponse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, stop := serveMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { truncateResponse(w) }), Options{MaxRetries: -1})
		defer stop()
		_, rawErr := client.Raw(t.Context(), http.MethodGet, "/", RawOptions{})
		stream, err := pods(client).Watch(t.Context(), listwatch.WatchOptions{})
		require.NoError(t, err)
		_, _, watchErr := drainWatch(stream)
		require.NoError(t, stream.Close())
		for what, err := range map[string]error{"raw": rawErr, "list": listErr(t.Context(), pods(client)), "watch": watchErr} {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, what)
			require.ErrorContains(t, err, ": the connection was lost within the response: unexpected EOF", what)
			require.NotErrorIs(t, err, ErrMalformed, what)
		}
	})
}

// The HeaderTimeout starts when the request is sent, after the wait for Options.Limit.
func TestHeaderTimeoutExcludesTheRateLimiter(t *testing.T) { // RS-17
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limit := func(ctx context.Context) error {
			time.Sleep(2 * time.Minute)
			return ctx.Err()
		}
		client, stop := serveMemory(t, cannedResponse{mediaTypeJSON, http.NoBody}, Options{Limit: limit})
		defer stop()
		require.Less(t, client.headerTimeout, 2*time.Minute)
		_, err := client.Raw(t.Context(), http.MethodGet, "/", RawOptions{})
		require.NoError(t, err)
	})
}
