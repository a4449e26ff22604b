package rest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/decode"
	"github.com/kinform/kinform/rest/internal/wire"
)

// bookmark returns the object of a bookmark.
func bookmark(rv string, annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: rv, Annotations: annotations}}
}

func TestWatchEqualsApimachineryDecoder(t *testing.T) { // RS-21
	t.Parallel()
	sent := randomPods(3, testsize.Scale(30, 9))
	names := []string{"ADDED", "MODIFIED", "DELETED"}
	for _, e := range encodings {
		var body []byte
		for i := range sent {
			body = append(body, event(t, e, names[i%3], "Pod", &sent[i])...)
		}
		body = append(body, event(t, e, "BOOKMARK", "Pod", bookmark("5000", nil))...)
		for name, r := range map[string]io.Reader{
			"at once":      bytes.NewReader(body),
			"byte by byte": iotest.OneByteReader(bytes.NewReader(body)),
		} {
			stream := pods(&Client{}).readWatch(offline(t.Context(), r), e, nil, nil)
			events, skipped, err := drainWatch(stream)
			require.NoError(t, stream.Close())
			require.Equal(t, io.EOF, err, "%s %s", e, name)
			require.Empty(t, skipped)
			require.Len(t, events, len(sent)+1)
			for i := range sent {
				want := &corev1.Pod{}
				require.NoError(t, apimachineryDecode(e, encode(t, e, "Pod", &sent[i]), want))
				want.TypeMeta = metav1.TypeMeta{}
				require.Equal(t, names[i%3], events[i].Type.String())
				require.Equal(t, want, events[i].Object)
				require.Equal(t, want.Name, events[i].Key.Name)
				require.Equal(t, want.ResourceVersion, events[i].ResourceVersion)
			}
			last := events[len(sent)]
			require.Equal(t, listwatch.Event[*corev1.Pod]{Type: listwatch.Bookmark, Item: listwatch.Item[*corev1.Pod]{ResourceVersion: "5000"}}, last)
		}
	}
}

func TestWatchAcceptsAnyEventLayout(t *testing.T) {
	t.Parallel()
	// Servers do not guarantee the order of fields, white space or line breaks.
	const body = `{"object":{"metadata":{"name":"a","resourceVersion":"1"}},"type":"ADDED"}{"type":"MODIFIED","object":{
		"metadata": {"annotations":{"x":"}]\"{"}, "name" : "a","resourceVersion":"2"}}}

	  {"\u0074ype":"DELETED","object":{"metadata":{"name":"a","resourceVersion":"3"}}, "more": [1, 2]}`
	stream := pods(&Client{}).readWatch(offline(t.Context(), strings.NewReader(body)), JSON, nil, nil)
	events, skipped, err := drainWatch(stream)
	require.NoError(t, stream.Close())
	require.Equal(t, io.EOF, err)
	require.Empty(t, skipped)
	var got []string
	for _, e := range events {
		got = append(got, e.Type.String()+e.ResourceVersion)
	}
	require.Equal(t, []string{"ADDED1", "MODIFIED2", "DELETED3"}, got)
}

func TestBookmarkEndsTheInitialEvents(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		var body []byte
		for _, value := range []string{"", "false", "true"} {
			body = append(body, event(t, e, "BOOKMARK", "Pod", bookmark("7", map[string]string{metav1.InitialEventsAnnotationKey: value}))...)
		}
		stream := pods(&Client{}).readWatch(offline(t.Context(), bytes.NewReader(body)), e, nil, nil)
		events, _, err := drainWatch(stream)
		require.NoError(t, stream.Close())
		require.Equal(t, io.EOF, err)
		require.Equal(t, []bool{false, false, true}, []bool{events[0].InitialEventsEnd, events[1].InitialEventsEnd, events[2].InitialEventsEnd})
	}
}

func TestBookmarksAreNotCountedAsDecoded(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a", ResourceVersion: "6"}}
		client := serveBytes(t, e, append(event(t, e, "ADDED", "Pod", pod), event(t, e, "BOOKMARK", "Pod", bookmark("7", nil))...))
		stream, err := pods(client).Watch(t.Context(), listwatch.WatchOptions{ResourceVersion: "5"})
		require.NoError(t, err)
		events, _, err := drainWatch(stream)
		require.NoError(t, stream.Close())
		require.Equal(t, io.EOF, err)
		require.Len(t, events, 2)
		require.EqualValues(t, 1, client.Stats().Decoded)
	}
}

// RC-24: a bookmark is a hint. If it is unusable, it has no version, and the next event follows.
func TestUnusableBookmarkHasNoVersion(t *testing.T) {
	t.Parallel()
	long := map[string]string{"a": strings.Repeat("x", decode.MaxStatusBytes)}
	for name, line := range map[string][]byte{
		"no version":                 []byte(`{"type":"BOOKMARK","object":{"metadata":{}}}`),
		"an empty version":           []byte(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":""}}}`),
		"no metadata":                []byte(`{"type":"BOOKMARK","object":{}}`),
		"metadata of null":           []byte(`{"type":"BOOKMARK","object":{"metadata":null}}`),
		"metadata that are none":     []byte(`{"type":"BOOKMARK","object":{"metadata":[]}}`),
		"no object":                  []byte(`{"type":"BOOKMARK"}`),
		"an object of null":          []byte(`{"type":"BOOKMARK","object":null}`),
		"a version that is a number": []byte(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":7}}}`),
		"kind Bookmark":              []byte(`{"type":"BOOKMARK","object":{"kind":"Bookmark","apiVersion":"v1","metadata":{"resourceVersion":"7"}}}`),
		"kind Secret":                event(t, JSON, "BOOKMARK", "Secret", bookmark("7", nil)),
		"a long version":             event(t, JSON, "BOOKMARK", "Pod", bookmark(strings.Repeat("7", 2<<10), nil)),
		"long annotations":           event(t, JSON, "BOOKMARK", "Pod", bookmark("7", long)),
		"too many bytes":             event(t, JSON, "BOOKMARK", "Pod", bookmark("7", map[string]string{"a": strings.Repeat("x", 300<<10)})),
		"protobuf, no object":        frameOf(t, metav1.WatchEvent{Type: "BOOKMARK"}),
		"protobuf, garbage":          frameOf(t, metav1.WatchEvent{Type: "BOOKMARK", Object: runtime.RawExtension{Raw: []byte("abcdef")}}),
		"protobuf, no version":       event(t, Protobuf, "BOOKMARK", "Pod", bookmark("", nil)),
		"protobuf, kind Secret":      event(t, Protobuf, "BOOKMARK", "Secret", bookmark("7", nil)),
		"protobuf, a long version":   event(t, Protobuf, "BOOKMARK", "Pod", bookmark(strings.Repeat("7", 2<<10), nil)),
		"protobuf, too many bytes":   event(t, Protobuf, "BOOKMARK", "Pod", bookmark("7", map[string]string{"a": strings.Repeat("x", 300<<10)})),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := JSON
			if strings.HasPrefix(name, "protobuf") {
				e = Protobuf
			}
			pod := plainPod(1)
			client := serveBytesWith(t, e, append(line, event(t, e, "ADDED", "Pod", &pod)...), Options{MaxObjectBytes: 256 << 10})
			stream, err := pods(client).Watch(t.Context(), listwatch.WatchOptions{})
			require.NoError(t, err)
			defer stream.Close()
			events, skipped, err := drainWatch(stream)
			require.Equal(t, io.EOF, err)
			require.Empty(t, skipped)
			require.Len(t, events, 2)
			require.Equal(t, listwatch.Event[*corev1.Pod]{Type: listwatch.Bookmark}, events[0])
		})
	}
}

func TestErrorEventIsAStatusError(t *testing.T) {
	t.Parallel()
	expired := &metav1.Status{Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "too old resource version"}
	busy := &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusTooManyRequests, Reason: metav1.StatusReasonTooManyRequests,
		Message: "wait", Details: &metav1.StatusDetails{RetryAfterSeconds: 17},
	}
	for _, e := range encodings {
		pod := plainPod(1)
		for _, status := range []*metav1.Status{expired, busy} {
			body := append(event(t, e, "ADDED", "Pod", &pod), event(t, e, "ERROR", "Status", status)...)
			stream, err := pods(serveBytes(t, e, body)).Watch(t.Context(), listwatch.WatchOptions{})
			require.NoError(t, err)
			events, _, err := drainWatch(stream)
			require.Len(t, events, 1)
			require.ErrorContains(t, err, status.Message)
			require.ErrorContains(t, err, "/api/v1/pods?")
			if status == expired {
				require.True(t, apierrors.IsResourceExpired(err))
			} else {
				require.True(t, apierrors.IsTooManyRequests(err))
				seconds, ok := apierrors.SuggestsClientDelay(err)
				require.True(t, ok)
				require.Equal(t, 17, seconds)
			}
			_, again := stream.Next()
			require.Equal(t, err, again)
			require.NoError(t, stream.Close())
		}
	}
}

func TestMalformedWatchesNameURLAndReason(t *testing.T) { // RS-21, RS-22
	t.Parallel()
	frame := func(e metav1.WatchEvent) string { return string(frameOf(t, e)) }
	pod := plainPod(1)
	podBytes := encode(t, Protobuf, "Pod", &pod)
	for name, test := range map[string]struct {
		e            Encoding
		body, reason string
	}{
		"page of a proxy":          {JSON, "<html>", "a JSON object is expected"},
		"an array":                 {JSON, "[]", "a JSON object is expected"},
		"no type":                  {JSON, `{"object":{}}`, "a type and an object"},
		"no object":                {JSON, `{"type":"ADDED"}`, "a type and an object"},
		"a list":                   {JSON, `{"kind":"PodList","items":[]}`, "a type and an object"},
		"unknown type":             {JSON, `{"type":"RENAMED","object":{}}`, `"RENAMED"`},
		"type is no string":        {JSON, `{"type":7,"object":{}}`, "a type and an object"},
		"error without a status":   {JSON, `{"type":"ERROR","object":{"kind":"Pod"}}`, "not a Status"},
		"cut off":                  {JSON, `{"type":"ADDED","object":{`, "ends within an event"},
		"cut off in protobuf":      {Protobuf, frame(metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: podBytes}})[:50], "ends within an event"},
		"cut off in the length":    {Protobuf, "\x00\x00", "ends within an event"},
		"empty event":              {Protobuf, "\x00\x00\x00\x00", "magic number"},
		"no magic number":          {Protobuf, frame(metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: []byte("abcdef")}}), "magic number"},
		"unknown type in protobuf": {Protobuf, frame(metav1.WatchEvent{Type: "RENAMED", Object: runtime.RawExtension{Raw: podBytes}}), `"RENAMED"`},
		"JSON called protobuf":     {Protobuf, `{"type":"ADDED"}`, "ends within an event"},
		"error in protobuf":        {Protobuf, frame(metav1.WatchEvent{Type: "ERROR", Object: runtime.RawExtension{Raw: podBytes}}), "not a Status"},
		"nonsense":                 {Protobuf, "\x00\x00\x00\x02\xff\xff", "ends within a field"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream, err := pods(serveBytes(t, test.e, []byte(test.body))).Watch(t.Context(), listwatch.WatchOptions{})
			require.NoError(t, err)
			defer stream.Close()
			_, _, err = drainWatch(stream)
			require.ErrorIs(t, err, ErrMalformed)
			require.ErrorContains(t, err, "GET http://127.0.0.1:")
			require.ErrorContains(t, err, "/api/v1/pods?")
			require.ErrorContains(t, err, test.reason)
		})
	}
}

func TestWatchEndsInOrderBetweenEvents(t *testing.T) { // RS-22
	t.Parallel()
	for _, e := range encodings {
		pod := plainPod(1)
		for _, body := range [][]byte{nil, event(t, e, "ADDED", "Pod", &pod)} {
			stream, err := pods(serveBytes(t, e, body)).Watch(t.Context(), listwatch.WatchOptions{})
			require.NoError(t, err)
			_, _, err = drainWatch(stream)
			require.Equal(t, io.EOF, err)
			require.NoError(t, stream.Close())
		}
	}
}

func TestWatchSkipsUndecodableObjects(t *testing.T) {
	t.Parallel()
	unnamed, good := bookmark("6", nil), plainPod(1)
	broken := runtime.Unknown{TypeMeta: runtime.TypeMeta{Kind: "Pod"}, Raw: []byte("\x0a\x03\x0a\x01b\x12\x01\xff")}
	data, err := broken.Marshal()
	require.NoError(t, err)
	bodies := map[Encoding][]byte{
		JSON:     []byte(`{"type":"MODIFIED","object":{"metadata":{"name":"b"},"spec":7}}`),
		Protobuf: frameOf(t, metav1.WatchEvent{Type: "MODIFIED", Object: runtime.RawExtension{Raw: append([]byte(wire.Magic), data...)}}),
	}
	for _, e := range encodings {
		body := append(bodies[e], event(t, e, "ADDED", "Pod", unnamed)...)
		body = append(body, event(t, e, "ADDED", "Pod", &good)...)
		stream := pods(&Client{}).readWatch(offline(t.Context(), bytes.NewReader(body)), e, nil, nil)
		events, skipped, err := drainWatch(stream)
		require.NoError(t, stream.Close())
		require.Equal(t, io.EOF, err)
		require.Len(t, events, 1)
		require.Len(t, skipped, 2)
		require.Equal(t, types.NamespacedName{Name: "b"}, skipped[0].Key)
		require.Equal(t, listwatch.Modified, skipped[0].Type)
		require.Equal(t, "6", skipped[1].ResourceVersion)
		require.Equal(t, listwatch.Added, skipped[1].Type)
	}
}

func TestTooLargeEventIsAnObjectError(t *testing.T) {
	t.Parallel()
	large := plainPod(1)
	large.Annotations["large"] = strings.Repeat("x", 300<<10)
	for _, e := range encodings {
		small := plainPod(2)
		body := append(event(t, e, "MODIFIED", "Pod", &large), event(t, e, "ADDED", "Pod", &small)...)
		x := offline(t.Context(), bytes.NewReader(body))
		x.config.maxObjectBytes = 100 << 10
		stream := pods(&Client{}).readWatch(x, e, nil, nil)
		events, skipped, err := drainWatch(stream)
		require.NoError(t, stream.Close())
		require.Equal(t, io.EOF, err, "%s", e)
		require.Len(t, events, 1)
		require.Len(t, skipped, 1)
		require.ErrorIs(t, skipped[0], ErrTooLarge)
		require.Equal(t, listwatch.Modified, skipped[0].Type)
		require.Equal(t, types.NamespacedName{Namespace: large.Namespace, Name: large.Name}, skipped[0].Key)
	}
}

func TestClaimedEventLengthAllocatesNothing(t *testing.T) { // G11
	body := append(binary.BigEndian.AppendUint32(nil, 2<<30), "\x0a\x05ADDED"...)
	allocated := allocatedBy(func() {
		stream := pods(&Client{}).readWatch(offline(t.Context(), bytes.NewReader(body)), Protobuf, nil, nil)
		_, _, err := drainWatch(stream)
		require.ErrorIs(t, err, ErrMalformed)
		require.NoError(t, stream.Close())
	})
	require.Less(t, allocated, uint64(1<<20))
}

func TestKnownSkipsDecodingOfInitialEventsOnly(t *testing.T) {
	t.Parallel()
	pod := plainPod(1)
	known := func(types.NamespacedName, string, uint64) bool { return true }
	for _, e := range encodings {
		body := append(event(t, e, "ADDED", "Pod", &pod), event(t, e, "MODIFIED", "Pod", &pod)...)
		for _, initial := range []bool{true, false} {
			stream, err := pods(serveBytes(t, e, body)).Watch(t.Context(), listwatch.WatchOptions{SendInitialEvents: initial, Known: known})
			require.NoError(t, err)
			events, _, err := drainWatch(stream)
			require.Equal(t, io.EOF, err)
			require.NoError(t, stream.Close())
			require.Equal(t, initial, events[0].State == listwatch.Unchanged)
			require.Equal(t, listwatch.Decoded, events[1].State)
		}
	}
}

func TestUnstructuredWatch(t *testing.T) {
	t.Parallel()
	pod := plainPod(1)
	body := append(event(t, JSON, "ADDED", "Pod", &pod), `{"type":"ADDED","object":{"metadata":{"name":"b"}}}`...)
	r := Must(NewJSONResource[*unstructured.Unstructured](serveBytes(t, JSON, body), podsGVR, ResourceOptions{}))
	stream, err := r.Watch(t.Context(), listwatch.WatchOptions{})
	require.NoError(t, err)
	defer stream.Close()
	events, skipped, err := drainWatch(stream)
	require.Equal(t, io.EOF, err)
	require.Equal(t, "Pod", events[0].Object.GetKind())
	require.ErrorContains(t, skipped[0], "no kind")
}

func TestWatchQuery(t *testing.T) {
	t.Parallel()
	var got atomic.Pointer[url.URL]
	client := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got.Store(r.URL) }), Options{})
	r := Must(NewResource[*corev1.Pod](client, podsGVR, ResourceOptions{LabelSelector: "a=b"}))
	for _, test := range []struct {
		opts listwatch.WatchOptions
		want url.Values
	}{
		{listwatch.WatchOptions{ResourceVersion: "7", Timeout: 1500 * time.Millisecond}, url.Values{
			"watch": {"true"}, "allowWatchBookmarks": {"true"}, "labelSelector": {"a=b"}, "resourceVersion": {"7"}, "timeoutSeconds": {"2"},
		}},
		{listwatch.WatchOptions{SendInitialEvents: true}, url.Values{
			"watch": {"true"}, "allowWatchBookmarks": {"true"}, "labelSelector": {"a=b"},
			"sendInitialEvents": {"true"}, "resourceVersionMatch": {"NotOlderThan"},
		}},
	} {
		stream, err := r.Watch(t.Context(), test.opts)
		require.NoError(t, err)
		require.NoError(t, stream.Close())
		require.Equal(t, test.want, got.Load().Query())
	}
}

func TestEventsAreReturnedAsSoonAsComplete(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		r, w := io.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		stream := pods(&Client{}).readWatch(offline(ctx, r), e, nil, nil)
		for i := range 20 {
			pod := plainPod(i)
			body := event(t, e, "ADDED", "Pod", &pod)
			// This write has a whole event and the first part of the next event. The rest follows
			// later.
			_, err := w.Write(body)
			require.NoError(t, err)
			rest := event(t, e, "BOOKMARK", "Pod", bookmark(fmt.Sprint(i), nil))
			_, err = w.Write(rest[:7])
			require.NoError(t, err)
			got, err := stream.Next()
			require.NoError(t, err)
			require.Equal(t, pod.Name, got.Key.Name)
			_, err = w.Write(rest[7:])
			require.NoError(t, err)
			got, err = stream.Next()
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(i), got.ResourceVersion)
		}
		require.NoError(t, w.Close())
		_, err := stream.Next()
		require.Equal(t, io.EOF, err)
		require.NoError(t, stream.Close())
	}
}
