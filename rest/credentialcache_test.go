//go:build unix

package rest

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest/internal/transport"
)

// login is a source of credentials that needs some time for a login.
type login struct {
	takes time.Duration
	calls atomic.Int32
	fail  func(call int32)
}

func (l *login) get(ctx context.Context, _ *Credential) (*Credential, error) {
	call := l.calls.Add(1)
	if l.fail != nil {
		l.fail(call)
	}
	select {
	case <-time.After(l.takes):
		return &Credential{Token: NewSecret("token")}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func newLoginClient(t *testing.T, source *login, timeout time.Duration) (client *Client, stop func()) {
	server := newMemoryListener()
	handler := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.Header.Get("Authorization")))
	})}
	var group sync.WaitGroup
	group.Go(func() { _ = handler.Serve(server) })
	client, err := NewClient(Config{
		Host: "http://memory", DialContext: server.DialContext, Credentials: source.get, CredentialTimeout: timeout,
	}, Options{})
	require.NoError(t, err)
	return client, func() {
		client.Close()
		_ = handler.Close()
		group.Wait()
	}
}

// TestLoginContinuesAfterRequestDeadline: a request fails at its deadline, but the login goes on,
// and the next request uses its result.
func TestLoginContinuesAfterRequestDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &login{takes: 5 * time.Minute}
		client, stop := newLoginClient(t, source, 0)
		defer stop()
		start := time.Now()
		for range 4 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err := get(ctx, client)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		body, err := get(t.Context(), client)
		require.NoError(t, err)
		require.Equal(t, "Bearer token", body)
		require.Equal(t, 5*time.Minute, time.Since(start))
		require.EqualValues(t, 1, source.calls.Load())
	})
}

func TestPrepareWaitsForACredential(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &login{takes: 5 * time.Minute}
		client, stop := newLoginClient(t, source, 0)
		defer stop()
		start := time.Now()
		require.NoError(t, pods(client).Prepare(t.Context()))
		require.Equal(t, 5*time.Minute, time.Since(start))
		require.Zero(t, client.Stats().Requests, "Prepare must not send a request")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.EqualError(t, client.Prepare(ctx), "GET http://memory: context deadline exceeded")
	})
	other := serve(t, http.NotFoundHandler(), Options{})
	require.NoError(t, other.Prepare(t.Context()), "without Config.Credentials, Prepare must return at once")
}

// TestCredentialTimeoutEndsTheWait: CredentialTimeout ends the wait even if the function
// ignores its context.
func TestCredentialTimeoutEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		deaf := &login{fail: func(int32) { <-release }}
		client, stop := newLoginClient(t, deaf, time.Minute)
		defer stop()
		start := time.Now()
		_, err := get(t.Context(), client)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.ErrorContains(t, err, "the function Credentials returned no credential within 1m0s (rest.Config.CredentialTimeout)")
		require.Equal(t, time.Minute, time.Since(start))
		_, err = get(t.Context(), client)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(start), "after the timeout, a request must fail at once")
		require.EqualValues(t, 1, deaf.calls.Load(), "no second call must start while the first one hangs")
		close(release)
		synctest.Wait()
		_, err = get(t.Context(), client)
		require.NoError(t, err)
	})
	synctest.Test(t, func(t *testing.T) {
		source := &login{takes: time.Hour}
		client, stop := newLoginClient(t, source, 0)
		defer stop()
		start := time.Now()
		_, err := get(t.Context(), client)
		require.ErrorContains(t, err, "the function Credentials returned no credential within 10m0s")
		require.Equal(t, 10*time.Minute, time.Since(start))
	})
}

// TestPanickingCredentialSourceBlocksNoRequest: all waiting requests get an error if Credentials
// panics or calls runtime.Goexit.
func TestPanickingCredentialSourceBlocksNoRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &login{fail: func(call int32) {
			switch call {
			case 1:
				panic("out of luck")
			case 2:
				runtime.Goexit()
			}
		}}
		client, stop := newLoginClient(t, source, 0)
		defer stop()
		_, err := get(t.Context(), client)
		require.ErrorContains(t, err, "credentials: the function Credentials panicked: out of luck")
		_, err = get(t.Context(), client)
		require.ErrorContains(t, err, "credentials: the function Credentials called runtime.Goexit")
		_, err = get(t.Context(), client)
		require.NoError(t, err)
	})
}

func TestCloseCancelsLogin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, stop := newLoginClient(t, &login{takes: time.Hour}, 0)
		ended := make(chan error, 1)
		go func() {
			_, err := get(t.Context(), client)
			ended <- err
		}()
		synctest.Wait()
		start := time.Now()
		stop()
		require.ErrorIs(t, <-ended, ErrClosed)
		require.Zero(t, time.Since(start))
		require.ErrorIs(t, client.Prepare(t.Context()), ErrClosed)
	})
}

func TestNonRegularOrTooLargeFileIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, large, lines := filepath.Join(dir, "pipe"), filepath.Join(dir, "large"), filepath.Join(dir, "lines")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, transport.MaxFileBytes+1))
	require.NoError(t, os.WriteFile(lines, []byte("hush\nhush\n"), 0o600))
	for path, want := range map[string]string{pipe: "is not a regular file", dir: "is not a regular file", large: "has 4194305 bytes", lines: "several lines"} {
		_, err := NewClient(Config{Host: "host", BearerTokenFile: path}, Options{})
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hush")
		if path != lines {
			_, err = NewClient(Config{Host: "host", TLS: TLSConfig{CAFile: path}}, Options{})
			require.ErrorContains(t, err, want)
		}
	}
	_, err := NewClient(Config{Host: "host", BearerTokenFile: filepath.Join(dir, "none")}, Options{})
	require.True(t, errors.Is(err, os.ErrNotExist))
}
