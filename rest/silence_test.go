package rest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/decode"
)

// dripping returns a handler that sends one byte at a time.
func dripping(body []byte, e Encoding, every time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType(e))
		for i := range body {
			_, _ = w.Write(body[i : i+1])
			_ = http.NewResponseController(w).Flush()
			select {
			case <-time.After(every):
			case <-r.Context().Done():
				return
			}
		}
	}
}

// A response that stops must not block a caller without a deadline for ever. This holds for Get,
// every verb, discovery, requests for tokens, and lists.
func TestG11_StalledResponseEnds(t *testing.T) {
	t.Parallel()
	key := types.NamespacedName{Namespace: "n", Name: "a"}
	pod := plainPod(1)
	pod.Annotations = map[string]string{"x": strings.Repeat("x", 4000)}
	for _, e := range encodings {
		one, list := encode(t, e, "Pod", &pod), podList(t, e, "1", plainPods(3)...)
		all := event(t, e, "ADDED", "Pod", &pod)
		for name, test := range map[string]struct {
			body []byte
			ask  func(context.Context, *Client) error
		}{
			"raw": {one, func(ctx context.Context, c *Client) error {
				_, err := c.Raw(ctx, http.MethodGet, "/apis", RawOptions{})
				return err
			}},
			"get": {one, func(ctx context.Context, c *Client) error {
				_, err := pods(c).Get(ctx, key, metav1.GetOptions{})
				return err
			}},
			"create": {one, func(ctx context.Context, c *Client) error {
				_, err := pods(c).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "n"}}, metav1.CreateOptions{})
				return err
			}},
			"delete": {one, func(ctx context.Context, c *Client) error { return pods(c).Delete(ctx, key, metav1.DeleteOptions{}) }},
			"delete all": {list, func(ctx context.Context, c *Client) error {
				return pods(c).DeleteCollection(ctx, "n", metav1.DeleteOptions{}, metav1.ListOptions{})
			}},
			"list": {list, func(ctx context.Context, c *Client) error { return listErr(ctx, pods(c)) }},
			"event": {all, func(ctx context.Context, c *Client) error {
				stream, err := pods(c).Watch(ctx, listwatch.WatchOptions{})
				if err != nil {
					return err
				}
				defer stream.Close()
				_, _, err = drainWatch(stream)
				return err
			}},
		} {
			for how, handler := range map[string]http.HandlerFunc{
				"silent": silent(test.body[:len(test.body)-20], e), "dripping": dripping(test.body, e, 10*time.Second),
			} {
				synctest.Test(t, func(t *testing.T) {
					client, stop := serveMemory(t, handler, Options{MaxRetries: -1})
					defer stop()
					start := time.Now()
					err := test.ask(t.Context(), client)
					require.ErrorIs(t, err, errSilent, "%s %s %s", e, name, how)
					require.ErrorContains(t, err, "rest.Options.MaxSilence")
					require.Equal(t, 90*time.Second, time.Since(start), "%s %s %s", e, name, how)
				})
			}
		}
	}
}

// A watch may be silent between two events. The time between two calls of Next does not count as
// silence.
func TestQuietWatchAndSlowReaderAreNotSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pod := plainPod(1)
		client, stop := serveMemory(t, silent(event(t, JSON, "ADDED", "Pod", &pod), JSON), Options{})
		defer stop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		stream, err := pods(client).Watch(ctx, listwatch.WatchOptions{})
		require.NoError(t, err)
		_, err = stream.Next()
		require.NoError(t, err)
		_, err = stream.Next()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, stream.Close())
	})
	synctest.Test(t, func(t *testing.T) { // a list with a slow consumer
		all := testsize.Scale(4000, 1000)
		body := podList(t, JSON, "1", plainPods(all)...)
		client, stop := serveMemory(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaTypeJSON)
			_, _ = w.Write(body)
		}), Options{})
		defer stop()
		stream, err := pods(client).List(t.Context(), listwatch.ListOptions{})
		require.NoError(t, err)
		n := 0
		for ; err == nil; n++ {
			if n%(all/4) == 0 {
				time.Sleep(10 * time.Minute)
			}
			_, err = stream.Next()
		}
		require.Equal(t, io.EOF, err)
		require.Equal(t, all+1, n)
		require.NoError(t, stream.Close())
	})
}

func TestG11_HeadersAndWarningsAreBounded(t *testing.T) {
	t.Parallel()
	var texts []string
	lots := 0
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := range lots {
			w.Header().Add("Warning", fmt.Sprintf(`299 - "%d%s"`, i, strings.Repeat("x", 1<<20/lots)))
		}
		if r.URL.Path == "/many" {
			for i := range 500 {
				w.Header().Add("Warning", fmt.Sprintf(`299 - "%d"`, i))
			}
			w.Header().Add("Warning", `299 - "late"`)
		}
		if r.URL.Path == "/long" {
			w.Header().Add("Warning", `299 - "`+strings.Repeat("x", 100_000)+`"`)
		}
	}), Options{MaxRetries: -1, Observer: &Observer{OnWarning: func(text string) { texts = append(texts, text) }}})
	ask := func(path string) error {
		_, err := client.Raw(t.Context(), http.MethodGet, path, RawOptions{})
		return err
	}
	require.NoError(t, ask("/many"))
	require.Len(t, texts, maxWarnings)
	require.NoError(t, ask("/long"))
	require.Len(t, texts[maxWarnings], decode.MaxTextBytes)
	lots = 10
	require.ErrorContains(t, ask("/"), "server response headers exceeded")
	require.Len(t, texts, maxWarnings+1)
}

// This is the same test for HTTP/2, for which net/http limits headers in another place.
func TestG11_HeadersOfHTTP2AreBounded(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, 2, r.ProtoMajor)
		if r.URL.Path == "/many" {
			for i := range 100 {
				w.Header().Add("Long", fmt.Sprintf("%d%s", i, strings.Repeat("x", 1<<13)))
			}
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	client, err := NewClient(Config{Host: server.URL, TLS: TLSConfig{Insecure: true}}, Options{MaxRetries: -1})
	require.NoError(t, err)
	defer client.Close()
	_, err = client.Raw(t.Context(), http.MethodGet, "/few", RawOptions{})
	require.NoError(t, err)
	_, err = client.Raw(t.Context(), http.MethodGet, "/many", RawOptions{})
	require.Error(t, err)
}

// If a server switches protocols without being requested to, net/http passes the connection to its
// caller. Then the end of the context does not end a read from this connection.
func TestG11_UnrequestedProtocolSwitchIsAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		client, stop := serveMemory(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			require.NoError(t, err)
			defer conn.Close()
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tea\r\n\r\n")
			<-done
		}), Options{MaxRetries: -1})
		defer stop()
		defer close(done)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		failed := make(chan error, 1)
		go func() {
			_, err := pods(client).Get(ctx, types.NamespacedName{Namespace: "n", Name: "a"}, metav1.GetOptions{})
			failed <- err
		}()
		select {
		case err := <-failed:
			require.ErrorContains(t, err, "101")
		case <-time.After(time.Hour):
			require.Fail(t, "the call must end with its context")
		}
	})
}
