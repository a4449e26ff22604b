package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/wire"
)

// silent returns a handler that sends the start of a list or a watch and then stays silent.
func silent(start []byte, e Encoding) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType(e))
		_, _ = w.Write(start)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func TestCancelEndsABlockedNextAtOnce(t *testing.T) { // D21
	t.Parallel()
	for _, e := range encodings {
		synctest.Test(t, func(t *testing.T) {
			list := podList(t, e, "1", plainPods(3)...)
			client, stop := serveMemory(t, silent(list[:len(list)-20], e), Options{MaxSilence: 2 * time.Hour})
			defer stop()
			ctx, cancel := context.WithCancel(t.Context())
			stream, err := pods(client).List(ctx, listwatch.ListOptions{})
			require.NoError(t, err)
			for range 2 {
				_, err = stream.Next()
				require.NoError(t, err)
			}
			time.AfterFunc(time.Hour, cancel)
			start := time.Now()
			_, err = stream.Next()
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorContains(t, err, "GET http://memory/api/v1/pods: context canceled")
			require.Equal(t, time.Hour, time.Since(start), "Next must end exactly when the context is cancelled")
			_, again := stream.Next()
			require.Equal(t, err, again)
			require.NoError(t, stream.Close())
		})
	}
}

func TestCancelDiscardsBufferedObjects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, stop := serveMemory(t, silent(podList(t, JSON, "1", plainPods(3)...), JSON), Options{})
		defer stop()
		ctx, cancel := context.WithCancel(t.Context())
		stream, err := pods(client).List(ctx, listwatch.ListOptions{})
		require.NoError(t, err)
		synctest.Wait()
		cancel()
		_, err = stream.Next()
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, stream.Close())
	})
}

func TestCloseDoesNotWaitForASilentServer(t *testing.T) { // G10, RS-23
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, stop := serveMemory(t, silent(nil, JSON), Options{})
		defer stop()
		stream, err := pods(client).Watch(t.Context(), listwatch.WatchOptions{})
		require.NoError(t, err)
		require.Equal(t, 1, client.Stats().Streams)
		synctest.Wait()
		start := time.Now()
		require.NoError(t, stream.Close())
		require.Zero(t, time.Since(start))
		require.Zero(t, client.Stats().Streams)
		_, err = stream.Next()
		require.EqualError(t, err, "GET http://memory/api/v1/pods?allowWatchBookmarks=true&watch=true: the stream is closed")
		require.NotErrorIs(t, err, ErrClosed, "the error must not say that the client is closed")
		synctest.Wait()
		require.Zero(t, client.Stats().Connections, "Close before the end of the response must close the connection")
	})
}

func TestCloseWhileReaderIsBlocked(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		body := podList(t, e, "1", plainPods(testsize.Scale(5000, 1500))...)
		synctest.Test(t, func(t *testing.T) {
			client, stop := serveMemory(t, cannedResponse{contentType(e), bytes.NewReader(body)}, Options{})
			defer stop()
			stream, err := pods(client).List(t.Context(), listwatch.ListOptions{})
			require.NoError(t, err)
			_, err = stream.Next()
			require.NoError(t, err)
			synctest.Wait() // until the reader has read as far ahead as it may
			read := client.Stats().BytesReceived
			require.Less(t, read, uint64(len(body)), "the reader must not read far ahead of the consumer")
			require.NoError(t, stream.Close())
		})
	}
}

func TestReadAheadIsBounded(t *testing.T) { // G11
	const size = 1 << 20
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	synctest.Test(t, func(t *testing.T) {
		client, stop := serveMemory(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaTypeJSON)
			event := fmt.Appendf(nil, `{"type":"ADDED","object":{"metadata":{"name":"a","annotations":{"a":"%s"}}}}`, strings.Repeat("x", size))
			for {
				if _, err := w.Write(event); err != nil {
					return
				}
			}
		}), Options{MaxObjectBytes: size + 1000})
		defer stop()
		stream, err := Must(NewJSONResource[*corev1.Pod](client, podsGVR, ResourceOptions{})).Watch(t.Context(), listwatch.WatchOptions{})
		require.NoError(t, err)
		for range 5 {
			_, err = stream.Next()
			require.NoError(t, err)
		}
		synctest.Wait() // until the reader has read as far ahead as it may
		require.LessOrEqual(t, client.Stats().BytesReceived, uint64((5+6)*(size+1000)))
		require.NoError(t, stream.Close())
	})
}

func TestClientCloseEndsRunningStreams(t *testing.T) { // G10
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, stop := serveMemory(t, silent(nil, JSON), Options{})
		defer stop()
		stream, err := pods(client).Watch(t.Context(), listwatch.WatchOptions{})
		require.NoError(t, err)
		time.AfterFunc(time.Minute, client.Close)
		_, err = stream.Next()
		require.ErrorIs(t, err, ErrClosed)
		require.NoError(t, stream.Close())
		_, err = client.Raw(t.Context(), http.MethodGet, "/version", RawOptions{})
		require.ErrorIs(t, err, ErrClosed)
		require.Zero(t, client.Stats().Connections)
	})
}

func TestHeaderTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, stop := serveMemory(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), Options{})
		defer stop()
		start := time.Now()
		_, err := pods(client).Get(t.Context(), types.NamespacedName{Name: "a"}, metav1.GetOptions{})
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.NotErrorIs(t, err, context.DeadlineExceeded, "the error must differ from a deadline of the caller's context")
		require.ErrorContains(t, err, "the server sent no headers within 1m0s")
		require.Equal(t, time.Minute, time.Since(start))
		require.EqualValues(t, 1, client.Stats().Failures)
	})
}

func TestHeaderTimeoutCoversTheBodyOfAFailure(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		code        int
		contentType string
		is          func(error) bool
	}{
		"failure":         {http.StatusBadGateway, "text/plain", apierrors.IsUnexpectedServerError},
		"page of a proxy": {http.StatusOK, "text/html", func(err error) bool { return errors.Is(err, ErrMalformed) }},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, stop := serveMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", test.contentType)
				w.WriteHeader(test.code)
				_, _ = io.WriteString(w, "<oops")
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}), Options{})
			defer stop()
			start := time.Now()
			_, err := pods(client).List(t.Context(), listwatch.ListOptions{})
			require.True(t, test.is(err), "%s: %v", name, err)
			require.ErrorContains(t, err, "<oops", name)
			require.Equal(t, time.Minute, time.Since(start), name)
		})
	}
}

func TestEndedContextSendsNoRequest(t *testing.T) { // RS-16
	t.Parallel()
	client := serve(t, http.NotFoundHandler(), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := pods(client).List(ctx, listwatch.ListOptions{})
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, client.Stats().Requests)
}

func TestConnectionIsReusedAfterCompleteResponse(t *testing.T) { // RS-12
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		network := newMemoryListener()
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/missing" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", mediaTypeJSON)
			_, _ = w.Write(podList(t, JSON, "1", plainPods(3)...))
		})}
		go func() { _ = server.Serve(network) }()
		defer server.Close()
		client, err := NewClient(Config{Host: "http://memory", DialContext: func(ctx context.Context, n, a string) (c net.Conn, err error) {
			dials++
			return network.DialContext(ctx, n, a)
		}}, Options{})
		require.NoError(t, err)
		defer client.Close()
		for range 3 {
			require.Equal(t, io.EOF, listErr(t.Context(), pods(client)))
			_, err = client.Raw(t.Context(), http.MethodGet, "/missing", RawOptions{})
			require.Error(t, err)
			synctest.Wait()
		}
		require.Equal(t, 1, dials)
	})
}

func TestOrderIsKeptWithSlowDecoding(t *testing.T) {
	t.Parallel()
	const n = 2000
	var body bytes.Buffer
	for i := range n {
		body.WriteByte(byte(i))
		body.WriteByte(byte(i >> 8))
	}
	a := startPipeline(offline(t.Context(), &body), fixedSizeFramer{}, func(f wire.Frame, _ *wire.Envelope) (e listwatch.Event[int], err error) {
		i := int(f.Data[0]) | int(f.Data[1])<<8
		for range i * 7919 % 13 {
			runtime.Gosched()
		}
		if i%5 == 0 {
			return e, &listwatch.ObjectError{ResourceVersion: string(f.Data), Err: errors.New("odd")}
		}
		e.Object = i
		return e, nil
	})
	for i := range n {
		got, err := a.next()
		require.LessOrEqual(t, len(a.current.results), maxFrames)
		if i%5 == 0 {
			require.Error(t, err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, i, got.Object)
	}
	_, err := a.next()
	require.Equal(t, io.EOF, err)
	a.close()
}

// fixedSizeFramer is a framer with frames of two bytes, so that there are many batches.
type fixedSizeFramer struct{}

func (fixedSizeFramer) Incomplete() bool { return false }

func (fixedSizeFramer) NextFrame(data []byte) (wire.Frame, int, error) {
	if len(data) < 2 {
		return wire.Frame{}, 0, nil
	}
	return wire.Frame{Data: data[:2]}, 2, nil
}
func (fixedSizeFramer) End([]byte) error        { return io.EOF }
func (fixedSizeFramer) Envelope() wire.Envelope { return wire.Envelope{} }

func TestObserverAndStats(t *testing.T) {
	t.Parallel()
	var answered []ResponseInfo
	var ended []StreamInfo
	var warnings []string
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Warning", `299 - "v1beta1 is \"deprecated\"" "Sat, 25 Aug 2012 23:34:45 GMT"`)
		w.Header().Add("Warning", `110 - "stale"`)
		w.Header().Set("Content-Type", mediaTypeJSON)
		_, _ = w.Write(podList(t, JSON, "1", plainPods(3)...))
	}), Options{Observer: &Observer{
		OnResponse:  func(a ResponseInfo) { answered = append(answered, a) },
		OnStreamEnd: func(e StreamInfo) { ended = append(ended, e) },
		OnWarning:   func(text string) { warnings = append(warnings, text) },
	}})
	require.Equal(t, io.EOF, listErr(t.Context(), Must(NewResource[*corev1.Pod](client, podsGVR, ResourceOptions{}))))
	require.Len(t, answered, 1)
	require.Equal(t, http.StatusOK, answered[0].StatusCode)
	require.Len(t, ended, 1)
	require.Equal(t, 3, ended[0].Objects)
	require.Equal(t, io.EOF, ended[0].Err)
	require.Equal(t, []string{`v1beta1 is "deprecated"`}, warnings) // RS-25
	stats := client.Stats()
	require.EqualValues(t, 1, stats.Requests)
	require.EqualValues(t, 3, stats.Decoded)
	require.Positive(t, stats.BytesReceived)
	require.Positive(t, stats.BytesSent)
}
