package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// failingServer is a server that fails some times and then succeeds. It records the requests.
type failingServer struct {
	times    int
	fail     func(http.ResponseWriter)
	response []byte

	requests int
	bodies   []string
}

func (f *failingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.bodies = append(f.bodies, string(body))
	if f.requests++; f.requests <= f.times {
		f.fail(w)
		return
	}
	w.Header().Set("Content-Type", mediaTypeJSON)
	_, _ = w.Write(f.response)
}

// failWith responds with a code, and with a Retry-After header unless retryAfter is empty.
func failWith(code int, retryAfter string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "try again later")
	}
}

func dropConnection(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// truncateResponse ends the connection in the middle of a response.
func truncateResponse(w http.ResponseWriter) {
	w.Header().Set("Content-Type", mediaTypeJSON)
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, "{")
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// requireAbout fails if a wait is shorter than requested, or more than a tenth longer.
func requireAbout(t *testing.T, want, got time.Duration, name string) {
	t.Helper()
	require.GreaterOrEqual(t, got, want, name)
	require.LessOrEqual(t, got, want+want/10, name)
}

var verbs = map[string]func(context.Context, *Resource[*corev1.Pod]) error{
	"get": func(ctx context.Context, r *Resource[*corev1.Pod]) error {
		_, err := r.Get(ctx, types.NamespacedName{Namespace: "n", Name: "a"}, metav1.GetOptions{})
		return err
	},
	"create": func(ctx context.Context, r *Resource[*corev1.Pod]) error {
		_, err := r.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a"}}, metav1.CreateOptions{})
		return err
	},
	"update": func(ctx context.Context, r *Resource[*corev1.Pod]) error {
		_, err := r.Update(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a"}}, metav1.UpdateOptions{})
		return err
	},
	"update status": func(ctx context.Context, r *Resource[*corev1.Pod]) error {
		_, err := r.UpdateStatus(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a"}}, metav1.UpdateOptions{})
		return err
	},
	"patch": func(ctx context.Context, r *Resource[*corev1.Pod]) error {
		_, err := r.Patch(ctx, types.NamespacedName{Namespace: "n", Name: "a"}, types.MergePatchType, []byte(`{"x":1}`), metav1.PatchOptions{})
		return err
	},
	"delete": func(ctx context.Context, r *Resource[*corev1.Pod]) error {
		return r.Delete(ctx, types.NamespacedName{Namespace: "n", Name: "a"}, metav1.DeleteOptions{})
	},
}

func TestWhichRequestsAreRetried(t *testing.T) { // RS-8 to RS-10, D20
	t.Parallel()
	const second = time.Second
	all := func(string) bool { return true }
	none := func(string) bool { return false }
	get := func(verb string) bool { return verb == "get" }
	for name, test := range map[string]struct {
		fail     func(http.ResponseWriter)
		repeated func(verb string) bool
		wait     time.Duration
	}{
		"429 with seconds":     {failWith(429, "3"), all, 3 * second},
		"429 without":          {failWith(429, ""), none, 0},
		"429 with nonsense":    {failWith(429, "soon"), none, 0},
		"429 with less than 0": {failWith(429, "-1"), none, 0},
		"429 with 0":           {failWith(429, "0"), all, second / 10},
		"429 with too much":    {failWith(429, "31"), none, 0},
		"429 with a date": {func(w http.ResponseWriter) {
			failWith(429, time.Now().Add(5*second).UTC().Format(http.TimeFormat))(w)
		}, all, 5 * second},
		"429 with a date past": {failWith(429, "Sat, 25 Aug 1990 23:34:45 GMT"), all, second / 10},
		"429 with a Status": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", mediaTypeJSON)
			w.WriteHeader(429)
			_, _ = io.WriteString(w, `{"kind":"Status","status":"Failure","reason":"TooManyRequests","code":429,"details":{"retryAfterSeconds":2}}`)
		}, all, 2 * second},
		"500 with seconds": {failWith(500, "1"), all, second},
		"503 with seconds": {failWith(503, "1"), all, second},
		"504 with seconds": {failWith(504, "30"), all, 30 * second},
		"503 without":      {failWith(503, ""), none, 0},
		"409 with seconds": {failWith(409, "1"), none, 0},
		"302 with seconds": {failWith(302, "1"), none, 0},
		"lost connection":  {dropConnection, get, second},
		"body cut off":     {truncateResponse, get, second},
		"something broken": {func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>") }, none, 0},
	} {
		for verb, call := range verbs {
			synctest.Test(t, func(t *testing.T) {
				name := verb + ", " + name
				pod := plainPod(1)
				server := &failingServer{times: 2, fail: test.fail, response: encode(t, JSON, "Pod", &pod)}
				var retries []RetryInfo
				client, stop := serveMemory(t, server, Options{Observer: &Observer{OnRetry: func(r RetryInfo) { retries = append(retries, r) }}})
				defer stop()
				start := time.Now()
				err := call(t.Context(), pods(client))
				if !test.repeated(verb) {
					require.Error(t, err, name)
					require.Equal(t, 1, server.requests, name)
					require.Zero(t, time.Since(start))
					require.Empty(t, retries)
					return
				}
				require.NoError(t, err, name)
				require.Equal(t, 3, server.requests, name)
				requireAbout(t, 2*test.wait, time.Since(start).Truncate(second/10), name)
				require.EqualValues(t, 2, client.Stats().Retries)
				require.Len(t, retries, 2)
				require.Equal(t, 2, retries[1].Err.Attempts)
				// RS-11: retries send the whole body again.
				require.Equal(t, server.bodies[0], server.bodies[1], "a retry must send the whole body again")
				require.Equal(t, server.bodies[0], server.bodies[2])
				require.Equal(t, verb != "get", server.bodies[0] != "")
			})
		}
	}
}

func TestStreamsAreNotRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &failingServer{times: 10, fail: failWith(503, "1")}
		client, stop := serveMemory(t, server, Options{})
		defer stop()
		require.True(t, apierrors.IsServiceUnavailable(listErr(t.Context(), pods(client))))
		_, err := pods(client).Watch(t.Context(), listwatch.WatchOptions{})
		require.True(t, apierrors.IsServiceUnavailable(err))
		server.fail = dropConnection
		_, err = pods(client).Watch(t.Context(), listwatch.WatchOptions{})
		require.Error(t, err) // D19, RS-15
		require.EqualValues(t, 3, client.Stats().Requests)
	})
}

func TestTimeoutsAndRefusedConnectionsAreNotRetried(t *testing.T) { // RS-10
	t.Parallel()
	for name, cause := range map[string]error{
		"timeout": os.ErrDeadlineExceeded,
		"refused": &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		"reset":   &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNRESET)},
	} {
		synctest.Test(t, func(t *testing.T) {
			dials := 0
			client, err := NewClient(Config{Host: "http://x", DialContext: func(context.Context, string, string) (net.Conn, error) {
				dials++
				return nil, cause
			}}, Options{MaxRetries: 2})
			require.NoError(t, err)
			defer client.Close()
			require.ErrorIs(t, verbs["get"](t.Context(), pods(client)), cause)
			require.Equal(t, name == "reset", dials == 3, "%s: %d dials", name, dials)
			require.Equal(t, name != "reset", dials == 1, "%s: %d dials", name, dials)
		})
	}
}

func TestErrorNamesAttemptsAndPreviousError(t *testing.T) { // RS-14
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		server := &failingServer{times: 100, fail: func(w http.ResponseWriter) {
			if n++; n == 3 {
				failWith(http.StatusForbidden, "")(w)
				return
			}
			failWith(http.StatusTooManyRequests, "1")(w)
		}}
		client, stop := serveMemory(t, server, Options{})
		defer stop()
		err := verbs["update"](t.Context(), pods(client))
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		require.False(t, apierrors.IsTooManyRequests(err))
		require.ErrorContains(t, err, "PUT http://memory/api/v1/namespaces/n/pods/a: ")
		require.ErrorContains(t, err, `(attempt 3); before that: the server has received too many requests`)

		err = verbs["update"](t.Context(), pods(client))
		require.True(t, apierrors.IsTooManyRequests(err))
		failed, ok := errors.AsType[*Error](err)
		require.True(t, ok)
		require.Equal(t, 11, failed.Attempts, "the default must be one attempt and ten retries")
		require.Equal(t, http.StatusTooManyRequests, failed.StatusCode)
		require.NotContains(t, err.Error(), "before that", "the error must not repeat an equal previous error")
		require.ErrorContains(t, err, "(attempt 11)")
	})
}

func TestMaxRetries(t *testing.T) {
	t.Parallel()
	for retries, want := range map[int]int{-1: 1, 0: 11, 1: 2, 4: 5} {
		synctest.Test(t, func(t *testing.T) {
			server := &failingServer{times: 100, fail: failWith(429, "1")}
			client, stop := serveMemory(t, server, Options{MaxRetries: retries})
			defer stop()
			_, err := client.Raw(t.Context(), http.MethodGet, "/", RawOptions{})
			require.True(t, apierrors.IsTooManyRequests(err))
			require.Equal(t, want, server.requests)
		})
	}
	_, err := NewClient(Config{Host: "x"}, Options{MaxRetryAfter: -1})
	require.ErrorContains(t, err, "MaxRetryAfter must not be negative")
}

func TestRetryWaitEndsWithContextOrClient(t *testing.T) { // RS-16
	t.Parallel()
	for name, end := range map[string]func(cancel context.CancelFunc, c *Client){
		"context": func(cancel context.CancelFunc, _ *Client) { cancel() },
		"client":  func(_ context.CancelFunc, c *Client) { c.Close(); c.Close() },
	} {
		synctest.Test(t, func(t *testing.T) {
			server := &failingServer{times: 100, fail: failWith(429, "20")}
			client, stop := serveMemory(t, server, Options{})
			defer stop()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(10*time.Second, func() { end(cancel, client) })
			start := time.Now()
			err := verbs["create"](ctx, pods(client))
			require.Equal(t, 10*time.Second, time.Since(start), name)
			if name == "client" {
				require.ErrorIs(t, err, ErrClosed)
			} else {
				require.ErrorIs(t, err, context.Canceled)
			}
			require.ErrorContains(t, err, "before that: the server has received too many requests", "the error must have the failure before the wait")
			require.Equal(t, 1, server.requests)
		})
	}
}

func TestRetriesUseOneConnection(t *testing.T) { // RS-12
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var dials atomic.Int32
		network := newMemoryListener()
		server := &http.Server{Handler: &failingServer{times: 5, fail: func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprintf(w, "%02000d", 0)
		}}}
		go func() { _ = server.Serve(network) }()
		defer server.Close()
		client, err := NewClient(Config{Host: "http://memory", DialContext: func(ctx context.Context, n, a string) (net.Conn, error) {
			dials.Add(1)
			return network.DialContext(ctx, n, a)
		}}, Options{})
		require.NoError(t, err)
		defer client.Close()
		_, err = client.Raw(t.Context(), http.MethodPost, "/", RawOptions{Body: []byte("x")})
		require.NoError(t, err)
		require.EqualValues(t, 1, dials.Load())
		require.EqualValues(t, 6, client.Stats().Requests)
	})
}

func TestSlowFailureBodyIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, stop := serveMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "because")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}), Options{})
		defer stop()
		start := time.Now()
		err := listErr(t.Context(), pods(client))
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		require.ErrorContains(t, err, "because")
		require.Equal(t, time.Minute, time.Since(start))
	})
}
