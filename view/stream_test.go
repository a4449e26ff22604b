package view

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// ended waits until a stream ends, and returns its last line.
func ended(t *testing.T, body io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(body)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

func TestViewersAreBounded(t *testing.T) {
	t.Parallel()
	r := start(t, Options{MaxViewers: 3, Laboratory: &fakeLaboratory{}}, 1, nil)
	look := func(credential, of string) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"stream?of="+of, nil)
		require.NoError(t, err)
		if credential != "" {
			request.Header.Set("Authorization", "Bearer "+credential)
		}
		transport := &http.Transport{}
		answer, err := transport.RoundTrip(request)
		require.NoError(t, err)
		t.Cleanup(transport.CloseIdleConnections)
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
	var others []*http.Response
	for range 3 {
		others = append(others, look("", ""))
	}
	require.Equal(t, 404, look("", "nothing").StatusCode)

	// If all slots are taken, the next viewer replaces the viewer of the oldest stream. The view
	// sends a reconnect delay to the replaced viewer.
	fourth := look("", "")
	require.Equal(t, 200, fourth.StatusCode)
	require.Equal(t, "retry: 5000", ended(t, others[0].Body))

	// Viewers with the token keep their slots, so no slot is left for other viewers.
	known := []*http.Response{look(r.view.Token(), ""), look(r.view.Token(), ""), look(r.view.Token(), "")}
	for _, other := range []*http.Response{others[1], others[2], fourth} {
		require.Equal(t, "retry: 5000", ended(t, other.Body))
	}
	for _, credential := range []string{"", r.view.Token()} {
		answer := look(credential, "")
		require.Equal(t, 503, answer.StatusCode)
		require.NotEmpty(t, answer.Header.Get("Retry-After"))
		require.Contains(t, ended(t, answer.Body), "too many viewers")
	}
	for _, k := range known {
		_, err := bufio.NewReader(k.Body).ReadString('\n')
		require.NoError(t, err)
	}

	// The program's own Frames needs no slot.
	_, frames, err := r.view.Frames(t.Context(), "")
	require.NoError(t, err)
	for range frames {
		break
	}
	_, _, err = r.view.Frames(t.Context(), "nothing")
	require.ErrorIs(t, err, ErrUnknownPipeline)
	require.NoError(t, known[0].Body.Close())
	require.Eventually(t, func() bool { return look("", "").StatusCode == 200 }, time.Minute, time.Millisecond)
}

// A program may wrap the ResponseWriter without the method Flush. The view then refuses the stream
// with an error, instead of breaking it off later.
func TestStreamWithoutFlushIsRefused(t *testing.T) {
	t.Parallel()
	r := start(t, Options{}, 1, nil)
	wrapped := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.view.ServeHTTP(struct{ http.ResponseWriter }{w}, request)
	}))
	t.Cleanup(wrapped.Close)
	answer, err := http.Get(wrapped.URL + "/stream")
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, 500, answer.StatusCode)
	require.Contains(t, string(text), "add a method Unwrap")
	require.Zero(t, r.view.viewers.Load())
}

// A hundred viewers get the same frames. Each frame is made once.
func TestFramesAreSharedByViewers(t *testing.T) {
	t.Parallel()
	r := start(t, Options{MaxViewers: 100}, 1, nil)
	all := make([]func() Line, 100)
	for i := range all {
		all[i] = r.stream(t, "")
		require.NotNil(t, all[i]().Hello)
	}
	first := map[uint64]*Frame{}
	for _, next := range all {
		f := next().Frame
		f.Cost = Cost{}
		if before := first[f.Seq]; before != nil {
			require.Equal(t, before, f)
		}
		first[f.Seq] = f
	}
	f := all[0]().Frame
	require.Less(t, len(first), 60, "viewers must share frames")
	require.NotZero(t, f.Seq)
}

// A viewer that does not read does not block other viewers. In the end it is disconnected.
func TestStalledViewerIsDisconnected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, err := New(Options{})
		require.NoError(t, err)
		Queue(v, workqueue.New(workqueue.Options[string]{Name: "jobs", Logger: silent}))
		stuck, good := &stalledWriter{stuck: true}, &stalledWriter{}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan string, 2)
		look := func(name string, w *stalledWriter) {
			defer func() {
				_ = recover() // http.ErrAbortHandler
				ended <- name
			}()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/stream", nil)
			require.NoError(t, err)
			request.RemoteAddr = "127.0.0.1:1"
			v.ServeHTTP(w, request)
		}
		go look("stuck", stuck)
		go look("good", good)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.InDelta(t, 100, good.frames.Load(), 3)
		require.Zero(t, stuck.frames.Load())
		require.EqualValues(t, 2, v.viewers.Load())
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, "stuck", <-ended)
		require.EqualValues(t, 1, v.viewers.Load())
		cancel()
		require.Equal(t, "good", <-ended)
		require.Zero(t, v.viewers.Load())
		for _, q := range v.queues {
			require.Zero(t, q.rec.viewers.Load())
		}
	})
}

// stalledWriter is a ResponseWriter whose client may stop reading.
type stalledWriter struct {
	stuck    bool
	frames   atomic.Int64
	deadline time.Time
}

func (w *stalledWriter) Header() http.Header { return http.Header{} }
func (w *stalledWriter) WriteHeader(int)     {}
func (w *stalledWriter) Flush()              {}

func (w *stalledWriter) SetWriteDeadline(at time.Time) error { w.deadline = at; return nil }

func (w *stalledWriter) Write(p []byte) (int, error) {
	if w.stuck {
		time.Sleep(time.Until(w.deadline))
		return 0, context.DeadlineExceeded
	}
	if bytes.HasPrefix(p, []byte(`data: {"frame"`)) {
		w.frames.Add(1)
	}
	return len(p), nil
}

// Frames are made at regular times. A slow viewer misses some frames, and gets later ones.
func TestFramesComeTenTimesASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, err := New(Options{})
		require.NoError(t, err)
		q := workqueue.New(QueueOptions(v, workqueue.Options[string]{Name: "jobs", Logger: silent}))
		Queue(v, q)
		hello, frames, err := v.Frames(t.Context(), "")
		require.NoError(t, err)
		require.Equal(t, "jobs", hello.Name)
		var seqs []uint64
		for f := range frames {
			seqs = append(seqs, f.Seq)
			require.Equal(t, float64(100*f.Seq), f.At)
			switch len(seqs) {
			case 2:
				q.Add("a")
				q.Add("a")
			case 3:
				require.Len(t, f.Events, 2)
				require.Equal(t, []string{Queued, Merged}, []string{f.Events[0].What, f.Events[1].What})
				require.Equal(t, "a", f.Events[0].Key)
				require.EqualValues(t, 1, f.Boxes[0].Numbers["ready"])
				require.Equal(t, Keys{All: 1, List: []Key{{Key: "a", Dirty: true, Ready: true, Adds: 2, Age: 0.1}}, Levels: []PriorityLevel{{0, 1}},
					Limits: &Limits{BaseWait: 0.005, MaxWait: 1000, Burst: 100, PerSecond: 10, Tokens: 100}}, f.Keys["jobs"])
				time.Sleep(350 * time.Millisecond)
			}
			if len(seqs) == 5 {
				break
			}
		}
		require.Equal(t, []uint64{1, 2, 3, 7, 8}, seqs)
		v.Close()
		v.Close()
		for range frames {
			require.Fail(t, "a closed view must have no more frames")
		}
	})
}

func TestRecordHasTheLinesOfTheStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, err := New(Options{})
		require.NoError(t, err)
		Queue(v, workqueue.New(workqueue.Options[string]{Name: "jobs", Logger: silent}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second+time.Millisecond)
		defer cancel()
		var file strings.Builder
		require.NoError(t, v.Record(ctx, &file, "jobs"))
		lines := strings.Split(strings.TrimSpace(file.String()), "\n")
		require.Len(t, lines, 11)
		for n, text := range lines {
			var l Line
			require.NoError(t, json.Unmarshal([]byte(text), &l))
			require.Equal(t, n == 0, l.Hello != nil)
			require.Equal(t, n != 0, l.Frame != nil)
		}
		require.ErrorIs(t, v.Record(ctx, &file, "pods"), ErrUnknownPipeline)
	})
}

func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	v, err := New(Options{})
	require.NoError(t, err)
	Queue(v, workqueue.New(workqueue.Options[string]{Name: "jobs", Logger: silent}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.Serve(ctx, listener) }()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport}).Get("http://" + listener.Addr().String() + "/stream")
	require.NoError(t, err)
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	require.True(t, lines.Scan())
	cancel()
	require.NoError(t, <-ended)
	for lines.Scan() {
	}
	require.NoError(t, lines.Err(), "the stream must end without an error")

	v, err = New(Options{})
	require.NoError(t, err)
	require.ErrorIs(t, v.Serve(t.Context(), listener), net.ErrClosed)
	require.Equal(t, "http://x/", v.Address("http://x/"))
}

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	_, err := New(Options{FrameInterval: time.Millisecond, MaxViewers: -1, Token: "short"})
	require.ErrorContains(t, err, "at least 20ms")
	require.ErrorContains(t, err, "must not be negative")
	require.ErrorContains(t, err, "at least 16 characters")
}
