package apitest_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest"
)

func TestFaultsMatchRequests(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	code := func(path string) int { return c.send(t, "GET", path, "").StatusCode }

	in := srv.Inject(apitest.Fault{Verb: "list", Resource: "pods", Skip: 1, Times: 2, Action: apitest.Code(503, 0)})
	for _, want := range []int{200, 503, 503, 200} {
		require.Equal(t, 200, code("/api/v1/nodes"))
		require.Equal(t, 404, code("/api/v1/namespaces/a/pods/p"))
		require.Equal(t, want, code("/api/v1/pods"))
	}
	require.Equal(t, 2, in.Hits())

	in = srv.Inject(apitest.Fault{Verb: "discovery", Action: apitest.Code(500, 0)})
	require.Equal(t, 500, code("/version"))
	require.Equal(t, 200, code("/api/v1/pods"))
	in.Remove()
	in.Remove()
	require.Equal(t, 200, code("/version"))

	in = srv.Inject(apitest.Fault{Match: func(r apitest.Request) bool { return r.Namespace == "a" && r.Group == "" }, Action: apitest.Code(500, 0)})
	require.Equal(t, 500, code("/api/v1/namespaces/a/pods"))
	require.Equal(t, 200, code("/api/v1/namespaces/b/pods"))
	in.Remove()
	require.PanicsWithValue(t, "apitest: a Fault needs an Action", func() { srv.Inject(apitest.Fault{}) })
}

func TestFaultProbabilityDependsOnTheSeed(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) (codes []int) {
		srv, c := start(t, apitest.Options{Seed: seed})
		in := srv.Inject(apitest.Fault{Probability: 0.5, Action: apitest.Code(500, 0)})
		for range 40 {
			codes = append(codes, c.send(t, "GET", "/api/v1/pods", "").StatusCode)
		}
		require.InDelta(t, 20, in.Hits(), 15)
		return codes
	}
	require.Equal(t, run(1), run(1))
	require.NotEqual(t, run(1), run(2))
}

func TestFaultyResponses(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("a", "p"))
	ask := func(action apitest.Action, path string, headers ...string) (*http.Response, string) {
		srv.Inject(apitest.Fault{Times: 1, Action: action})
		resp := c.send(t, "GET", path, "", headers...)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp, string(body)
	}
	const list, watch = "/api/v1/pods", "/api/v1/pods?watch=1"

	resp, body := ask(apitest.Code(500, 1500*time.Millisecond), list)
	require.Equal(t, "2", resp.Header.Get("Retry-After"))
	require.Equal(t, metav1.StatusReasonInternalError, decode[metav1.Status](t, []byte(body)).Reason)

	resp, body = ask(apitest.TooManyRequests(0), list)
	require.Equal(t, "429 1", resp.Status[:3]+" "+resp.Header.Get("Retry-After"))
	require.Equal(t, "Too many requests, please try again later.\n", body)

	resp, body = ask(apitest.Expired(), watch, "Accept", protoType)
	require.Equal(t, http.StatusGone, resp.StatusCode)
	_, kind, raw := envelope(t, []byte(body))
	require.Equal(t, "Status", kind)
	var status metav1.Status
	require.NoError(t, status.Unmarshal(raw))
	require.Equal(t, metav1.StatusReasonExpired, status.Reason)

	_, body = ask(apitest.Fail(apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))), list)
	require.Equal(t, metav1.StatusReasonForbidden, decode[metav1.Status](t, []byte(body)).Reason)
	_, body = ask(apitest.Fail(errors.New("boom")), list)
	require.Equal(t, "boom", decode[metav1.Status](t, []byte(body)).Message)

	resp, body = ask(apitest.HTML(), list)
	require.Contains(t, resp.Header.Get("Content-Type"), "text/html")
	require.Contains(t, body, "<html>")
	resp, body = ask(apitest.Empty(), list, "Accept", protoType)
	require.Equal(t, "200  "+protoType, resp.Status[:3]+" "+body+" "+resp.Header.Get("Content-Type"))
	resp, body = ask(apitest.Garbage(), watch, "Accept", protoType)
	require.Equal(t, protoType+";stream=watch", resp.Header.Get("Content-Type"))
	require.Contains(t, body, "garbage")
	_, body = ask(apitest.Table(), list)
	require.Equal(t, "Table", decode[metav1.TypeMeta](t, []byte(body)).Kind)
	_, body = ask(apitest.Table(), watch)
	require.Contains(t, body, `{"type":"ADDED","object":{"kind":"Table"`)
	resp, body = ask(apitest.ContentType("application/cbor"), list)
	require.Equal(t, "application/cbor", resp.Header.Get("Content-Type"))
	require.Equal(t, []string{"a/p"}, names(decode[corev1.PodList](t, []byte(body)).Items))
}

func TestFaultsThatBreakConnections(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("a", "p"))
	srv.Inject(apitest.Fault{Times: 1, Action: apitest.Drop()})
	// clients do not retry a POST
	req, err := http.NewRequestWithContext(t.Context(), "POST", c.base+"/api/v1/pods", nil)
	require.NoError(t, err)
	_, err = c.http.Do(req)
	require.ErrorIs(t, err, io.EOF)

	srv.Inject(apitest.Fault{Times: 1, Action: apitest.CutBody(25)})
	body, err := io.ReadAll(c.send(t, "GET", "/api/v1/pods", "").Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, `{"kind":"PodList","apiVer`, string(body))
}

func TestSlowResponses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, c := startMemory(t, apitest.Options{})
		srv.Inject(apitest.Fault{Times: 1, Action: apitest.SlowBody(20)})
		begin := time.Now()
		body := c.do(t, http.StatusOK, "GET", "/api/v1/pods", "")
		require.Equal(t, time.Duration((len(body)+1)/2)*time.Second/10, time.Since(begin))

		srv.Inject(apitest.Fault{Action: apitest.Delay(time.Hour)})
		begin = time.Now()
		c.do(t, http.StatusOK, "GET", "/api/v1/pods", "")
		require.Equal(t, time.Hour, time.Since(begin))

		// Close does not wait for delayed requests.
		begin = time.Now()
		failed := make(chan error, 1)
		go func() {
			_, err := c.http.Post(c.base+"/api/v1/pods", jsonType, strings.NewReader("unread"))
			failed <- err
		}()
		time.Sleep(time.Minute)
		srv.Close()
		require.ErrorIs(t, <-failed, io.EOF)
		require.Equal(t, time.Minute, time.Since(begin))
	})
}

func TestUndecodableObjectKeepsItsNameAndVersion(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("a", "p"), pod("a", "q"), pod("a", "r"))
	broken := func() { srv.Inject(apitest.Fault{Times: 1, Action: apitest.UndecodableObject(2)}) }

	broken()
	body := c.do(t, http.StatusOK, "GET", "/api/v1/pods", "")
	list := decode[struct{ Items []map[string]any }](t, body)
	require.Equal(t, map[string]any{"name": "q", "namespace": "a", "resourceVersion": "3", "labels": float64(7)}, list.Items[1]["metadata"])
	require.Equal(t, "r", list.Items[2]["metadata"].(map[string]any)["name"])

	broken()
	_, _, raw := envelope(t, c.do(t, http.StatusOK, "GET", "/api/v1/pods", "", "Accept", protoType))
	require.Error(t, (&corev1.PodList{}).Unmarshal(raw))

	broken()
	w := c.watch(t, "/api/v1/pods", jsonType)
	w.expect("ADDED a/p")
	_, err := w.next()
	require.ErrorContains(t, err, "labels")
	w.expect("ADDED a/r")

	broken()
	w = c.watch(t, "/api/v1/pods", protoType)
	w.expect("ADDED a/p")
	frame, err := w.frame()
	require.NoError(t, err)
	var event metav1.WatchEvent
	require.NoError(t, event.Unmarshal(frame))
	_, _, raw = envelope(t, event.Object.Raw)
	require.ErrorIs(t, (&corev1.Pod{}).Unmarshal(raw), io.ErrUnexpectedEOF)
	w.expect("ADDED a/r")
}

func TestWatchFaults(t *testing.T) {
	t.Parallel()
	for name, accept := range encodings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, c := start(t, apitest.Options{})
			create(t, srv, pod("a", "p"), pod("a", "q"), pod("a", "r"))
			open := func(action apitest.Action) *stream {
				srv.Inject(apitest.Fault{Verb: "watch", Times: 1, Action: action})
				return c.watch(t, "/api/v1/pods", accept)
			}
			breaks := func(w *stream) {
				t.Helper()
				_, err := w.next()
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			}

			w := open(apitest.DropAfterEvents(2))
			w.expect("ADDED a/p", "ADDED a/q")
			breaks(w)
			breaks(open(apitest.DropAfterEvents(0)))

			w = open(apitest.EndAfterEvents(1))
			w.expect("ADDED a/p")
			w.ends()

			w = open(apitest.CutFrame(1))
			whole, err := w.frame()
			require.NoError(t, err)
			half, err := io.ReadAll(w.r)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.InDelta(t, len(whole)/2, len(half), 4)

			w = open(apitest.FailAfterEvents(3, apierrors.NewResourceExpired("too old")))
			w.expect("ADDED a/p", "ADDED a/q", "ADDED a/r")
			require.Equal(t, metav1.StatusReasonExpired, w.status().Reason)
			w.ends()

			w = open(apitest.DuplicateEvents())
			w.expect("ADDED a/p", "ADDED a/p", "ADDED a/q", "ADDED a/q")

			w = open(apitest.HugeFrame(1, 1<<20))
			w.expect("ADDED a/p")
			if accept == protoType {
				var size [4]byte
				_, err := io.ReadFull(w.r, size[:])
				require.NoError(t, err)
				require.EqualValues(t, 1<<20, binary.BigEndian.Uint32(size[:]))
			}
			n, err := io.Copy(io.Discard, w.r)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.InDelta(t, 1<<20, n, 100)
		})
	}
}

func TestSilentWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, c := startMemory(t, apitest.Options{})
		create(t, srv, pod("a", "p"))
		srv.Inject(apitest.Fault{Verb: "watch", Times: 1, Action: apitest.SilentWatch()})
		srv.Inject(apitest.Fault{Verb: "watch", Times: 1, Action: apitest.SilentAfterEvents(1)})
		var watches []*stream
		for range 2 {
			watches = append(watches, c.watch(t, "/api/v1/pods", jsonType, "timeoutSeconds", "10", "allowWatchBookmarks", "true"))
		}
		begin := time.Now()
		time.AfterFunc(time.Hour, func() { srv.DropWatches("") })
		for _, w := range watches {
			_, err := w.next()
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.Equal(t, time.Hour, time.Since(begin))
		}
	})
}

func TestBookmarkFaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, c := startMemory(t, apitest.Options{})
		create(t, srv, pod("a", "p"))
		params := []string{"sendInitialEvents", "true", "resourceVersionMatch", "NotOlderThan", "allowWatchBookmarks", "true"}

		srv.Inject(apitest.Fault{Times: 1, Action: apitest.DelayBookmarks(5 * time.Second)})
		begin := time.Now()
		w := c.watch(t, "/api/v1/pods", jsonType, params...)
		w.expect("ADDED a/p")
		create(t, srv, pod("a", "q"))
		w.expect("ADDED a/q")
		require.Zero(t, time.Since(begin))
		w.expect("BOOKMARK END 3")
		require.Equal(t, 5*time.Second, time.Since(begin))
		w.expect("BOOKMARK 3")
		require.Equal(t, 70*time.Second, time.Since(begin))

		srv.Inject(apitest.Fault{Times: 1, Action: apitest.NoEndMarker()})
		w = c.watch(t, "/api/v1/pods", jsonType, params...)
		w.expect("ADDED a/p", "ADDED a/q", "BOOKMARK 3")
	})
}

func TestFaultsCombine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, c := startMemory(t, apitest.Options{})
		create(t, srv, pod("a", "p"))
		srv.Inject(apitest.Fault{Verb: "watch", Action: apitest.Delay(time.Second)})
		srv.Inject(apitest.Fault{Verb: "watch", Action: apitest.DuplicateEvents()})
		srv.Inject(apitest.Fault{Verb: "watch", Action: apitest.EndAfterEvents(1)})
		begin := time.Now()
		w := c.watch(t, "/api/v1/pods", jsonType)
		require.Equal(t, time.Second, time.Since(begin))
		w.expect("ADDED a/p", "ADDED a/p")
		w.ends()
	})
}
