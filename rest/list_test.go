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

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/wire"
)

func TestListEqualsApimachineryDecoder(t *testing.T) {
	t.Parallel()
	sent := randomPods(1, testsize.Scale(50, 20))
	for _, e := range encodings {
		// before the parallel part, because encoding writes to quantities
		body := podList(t, e, "4711", sent...)
		t.Run(e.String(), func(t *testing.T) {
			t.Parallel()
			want := decodePodList(t, e, body)
			stream, err := pods(serveBytes(t, e, body)).List(t.Context(), listwatch.ListOptions{})
			require.NoError(t, err)
			items, skipped, err := drainList(stream)
			require.Equal(t, io.EOF, err)
			require.Empty(t, skipped)
			require.Len(t, items, len(want.Items))
			for i, item := range items {
				require.Equal(t, &want.Items[i], item.Object)
				require.Equal(t, types.NamespacedName{Namespace: want.Items[i].Namespace, Name: want.Items[i].Name}, item.Key)
				require.Equal(t, want.Items[i].ResourceVersion, item.ResourceVersion)
				require.Zero(t, item.Object.TypeMeta, "items must lack kind and apiVersion, as with client-go's typed clients")
			}
			require.Equal(t, listwatch.ListMeta{ResourceVersion: "4711", Bytes: int64(len(body))}, stream.Meta())
			_, err = stream.Next()
			require.Equal(t, io.EOF, err, "Next must return io.EOF again after the end")
			require.NoError(t, stream.Close())
			require.NoError(t, stream.Close())
		})
	}
}

func TestListIsIndependentOfReadSizes(t *testing.T) {
	t.Parallel()
	sent := randomPods(2, 3)
	for _, e := range encodings {
		body := podList(t, e, "1", sent...)
		want := decodePodList(t, e, body)
		for name, r := range map[string]io.Reader{
			"byte by byte":      iotest.OneByteReader(bytes.NewReader(body)),
			"in halves":         iotest.HalfReader(bytes.NewReader(body)),
			"end with the data": iotest.DataErrReader(bytes.NewReader(body)),
		} {
			stream := pods(&Client{}).readList(offline(t.Context(), r), e, nil)
			items, skipped, err := drainList(stream)
			require.Equal(t, io.EOF, err, "%s %s", e, name)
			require.Empty(t, skipped)
			require.Len(t, items, len(sent))
			for i := range items {
				require.Equal(t, &want.Items[i], items[i].Object)
			}
			require.NoError(t, stream.Close())
		}
	}
}

func TestTruncatedListIsAnError(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		body := bytes.TrimSpace(podList(t, e, "1", *bookmark("1", nil), *bookmark("2", map[string]string{"a": "b"})))
		complete := len(body)
		if e == Protobuf {
			complete -= len("\x1a\x00\x22\x00") // the rest of the envelope is empty
		}
		for n := 0; n < complete; n += testsize.Scale(1, 3) {
			stream := pods(&Client{}).readList(offline(t.Context(), bytes.NewReader(body[:n])), e, nil)
			_, _, err := drainList(stream)
			require.ErrorIs(t, err, ErrMalformed, "%s: %d of %d bytes", e, n, complete)
			require.NoError(t, stream.Close())
		}
	}
}

func TestMalformedListsNameURLAndReason(t *testing.T) { // RC-13
	t.Parallel()
	const html = "<html><body>Please log in</body></html>"
	typeMeta := func(kind string) []byte {
		unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{Kind: kind}, Raw: []byte{}}
		data, err := unknown.Marshal()
		require.NoError(t, err)
		return append([]byte(wire.Magic), data...)
	}
	for name, test := range map[string]struct {
		contentType, body, reason string
	}{
		"page of a proxy":                  {"text/html", html, "Please log in"},
		"page of a proxy, called JSON":     {mediaTypeJSON, html, "a JSON object is expected"},
		"page of a proxy, called protobuf": {mediaTypeProtobuf, html, "magic number"},
		"empty JSON":                       {mediaTypeJSON, "", "the body is empty"},
		"empty protobuf":                   {mediaTypeProtobuf, "", "the body is empty"},
		"table":                            {mediaTypeJSON, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}`, `"Table"`},
		"table in protobuf":                {mediaTypeProtobuf, string(typeMeta("Table")), `"Table"`},
		"status":                           {mediaTypeJSON, `{"kind":"Status","apiVersion":"v1"}`, `"Status"`},
		"no list":                          {mediaTypeJSON, `{}`, "without a kind"},
		"no list in protobuf":              {mediaTypeProtobuf, wire.Magic + "\x12\x00", "without a kind"},
		"an array":                         {mediaTypeJSON, `[]`, "a JSON object is expected"},
		"an object, called a page":         {"text/html", `{"kind":"Secret"}`, `starting with "..."`},
		"items twice":                      {mediaTypeJSON, `{"kind":"PodList","items":[],"items":[]}`, "two fields with items"},
		"items, and then null":             {mediaTypeJSON, `{"kind":"PodList","items":[],"items":null}`, "two fields with items"},
		"items are no array":               {mediaTypeJSON, `{"kind":"PodList","items":{}}`, "items of the list"},
		"an item is missing":               {mediaTypeJSON, `{"kind":"PodList","items":[,]}`, "an item or ] is expected at byte 27"},
		"a value is missing":               {mediaTypeJSON, `{"kind":}`, "a value is expected"},
		"a key is missing":                 {mediaTypeJSON, `{"kind":"PodList",}`, "a key is expected"},
		"a colon is missing":               {mediaTypeJSON, `{"kind" "PodList"}`, "a colon is expected"},
		"a key is no string":               {mediaTypeJSON, `{1:2}`, "a key or } is expected"},
		"more after the end":               {mediaTypeJSON, `{"kind":"PodList","items":[]} {}`, "the end is expected"},
		"no magic number":                  {mediaTypeProtobuf, "abcd", "magic number"},
		"metadata of another type":         {mediaTypeJSON, `{"kind":"PodList","metadata":{"resourceVersion":7}}`, "metadata of the list"},
		"unknown content type":             {"application/cbor", "\xd9\xd9\xf7", `"application/cbor"`},
		"content type is nonsense":         {"a/b/c;;", "", "content type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, cannedResponse{test.contentType, strings.NewReader(test.body)}, Options{})
			err := listErr(t.Context(), pods(client))
			require.ErrorIs(t, err, ErrMalformed)
			require.ErrorContains(t, err, "GET http://127.0.0.1:")
			require.ErrorContains(t, err, "/api/v1/pods")
			require.ErrorContains(t, err, test.reason)
			require.NotContains(t, err.Error(), "Secret")
		})
	}
}

func TestConnectionLostWithinAListIsAnError(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		body := podList(t, e, "1", plainPods(20)...)
		client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType(e))
			_, _ = w.Write(body[:len(body)/2])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}), Options{})
		err := listErr(t.Context(), pods(client))
		require.NotErrorIs(t, err, ErrMalformed)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.ErrorContains(t, err, "/api/v1/pods: the connection was lost within the response: ")
	}
}

func TestListWithMetadataAfterItems(t *testing.T) {
	t.Parallel()
	const body = `{"apiVersion":"example.com/v1","items":[
		{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a","namespace":"n","resourceVersion":"5"},"spec":{"n":12345678901234567,"f":1.5}},
		{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"b\u002d1","namespace":"n","resourceVersion":"6"}}
	],"kind":"FooList","metadata":{"continue":"more","remainingItemCount":7,"resourceVersion":"9"}}`
	r := Must(NewJSONResource[*unstructured.Unstructured](serveBytes(t, JSON, []byte(body)), foosGVR, ResourceOptions{}))
	stream, err := r.List(t.Context(), listwatch.ListOptions{})
	require.NoError(t, err)
	defer stream.Close()
	items, skipped, err := drainList(stream)
	require.Equal(t, io.EOF, err)
	require.Empty(t, skipped)
	require.Equal(t, listwatch.ListMeta{ResourceVersion: "9", Continue: "more", RemainingItemCount: 7, Bytes: int64(len(body))}, stream.Meta())
	require.Len(t, items, 2)
	require.Equal(t, "b-1", items[1].Key.Name)
	require.Equal(t, "6", items[1].ResourceVersion)
	require.Equal(t, map[string]any{
		"apiVersion": "example.com/v1", "kind": "Foo", "spec": map[string]any{"n": int64(12345678901234567), "f": 1.5},
		"metadata": map[string]any{"name": "a", "namespace": "n", "resourceVersion": "5"},
	}, items[0].Object.Object)
}

func TestUnstructuredItemsGetTheirKindFromTheList(t *testing.T) {
	t.Parallel()
	r := Must(NewJSONResource[*unstructured.Unstructured](serveBytes(t, JSON, podList(t, JSON, "1", plainPod(1))), podsGVR, ResourceOptions{}))
	stream, err := r.List(t.Context(), listwatch.ListOptions{})
	require.NoError(t, err)
	defer stream.Close()
	item, err := stream.Next()
	require.NoError(t, err)
	require.Equal(t, "Pod", item.Object.GetKind())
	require.Equal(t, "v1", item.Object.GetAPIVersion())
}

func TestListSkipsUndecodableItems(t *testing.T) {
	t.Parallel()
	const body = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[
		{"metadata":{"name":"a","namespace":"n","resourceVersion":"2"}},
		{"metadata":{"name":"b","namespace":"n","resourceVersion":"3"},"spec":"no object"},
		{"metadata":{"resourceVersion":"4"}}, null, 7, {"metadata":{"name":"c"}}]}`
	client := serveBytes(t, JSON, []byte(body))
	stream, err := pods(client).List(t.Context(), listwatch.ListOptions{})
	require.NoError(t, err)
	items, skipped, err := drainList(stream)
	require.NoError(t, stream.Close())
	require.Equal(t, io.EOF, err)
	require.Len(t, items, 2)
	require.Len(t, skipped, 4)
	require.Equal(t, types.NamespacedName{Namespace: "n", Name: "b"}, skipped[0].Key)
	require.Equal(t, "3", skipped[0].ResourceVersion)
	require.ErrorContains(t, skipped[0], "/api/v1/pods")
	require.ErrorContains(t, skipped[1], "metadata.name is missing")
	stats := client.Stats()
	require.EqualValues(t, 2, stats.Decoded)
	require.EqualValues(t, 4, stats.ObjectErrors)
	require.Zero(t, stats.Streams)
}

// explosive has a method Unmarshal that panics for some input.
type explosive struct{ corev1.Pod }

func (e *explosive) Unmarshal(data []byte) error {
	if err := e.Pod.Unmarshal(data); err != nil {
		return err
	}
	if strings.HasSuffix(e.Name, "00001") {
		panic("boom")
	}
	return nil
}

func TestDecoderPanicIsAnObjectError(t *testing.T) { // G11
	t.Parallel()
	r := Must(NewResource[*explosive](&Client{}, podsGVR, ResourceOptions{}))
	body := podList(t, Protobuf, "1", plainPods(3)...)
	stream := r.readList(offline(t.Context(), bytes.NewReader(body)), Protobuf, nil)
	items, skipped, err := drainList(stream)
	require.NoError(t, stream.Close())
	require.Equal(t, io.EOF, err)
	require.Len(t, items, 2)
	require.Len(t, skipped, 1)
	require.ErrorContains(t, skipped[0], "panic while decoding: boom")
}

func TestKnownObjectsAreNotDecoded(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		sent := plainPods(200)
		client := serveBytes(t, e, podList(t, e, "1", sent...))
		var asked atomic.Int64
		stream, err := pods(client).List(t.Context(), listwatch.ListOptions{Known: func(key types.NamespacedName, rv string, _ uint64) bool {
			asked.Add(1)
			return key.Namespace == "team-1" && rv != "100021"
		}})
		require.NoError(t, err)
		items, _, err := drainList(stream)
		require.Equal(t, io.EOF, err)
		require.NoError(t, stream.Close())
		require.EqualValues(t, len(sent), asked.Load())
		for i, item := range items {
			require.Equal(t, sent[i].Name, item.Key.Name)
			require.Equal(t, sent[i].ResourceVersion, item.ResourceVersion)
			require.Equal(t, i%20 == 1 && i != 21, item.State == listwatch.Unchanged)
			require.Equal(t, item.State == listwatch.Unchanged, item.Object == nil)
		}
		require.EqualValues(t, 9, client.Stats().Unchanged)
	}
}

func TestTooLargeItemIsAnObjectError(t *testing.T) {
	t.Parallel()
	large := plainPod(1)
	large.Annotations["large"] = strings.Repeat("x", 300<<10)
	for _, e := range encodings {
		handler := cannedResponse{contentType(e), bytes.NewReader(podList(t, e, "1", plainPod(0), large, plainPod(2)))}
		client := serve(t, handler, Options{MaxObjectBytes: 100 << 10})
		stream, err := pods(client).List(t.Context(), listwatch.ListOptions{})
		require.NoError(t, err)
		items, skipped, err := drainList(stream)
		require.NoError(t, stream.Close())
		require.Equal(t, io.EOF, err, "%s", e)
		require.Len(t, items, 2)
		require.Len(t, skipped, 1)
		require.ErrorIs(t, skipped[0], ErrTooLarge)
		require.Equal(t, types.NamespacedName{Namespace: large.Namespace, Name: large.Name}, skipped[0].Key)
		require.Equal(t, large.ResourceVersion, skipped[0].ResourceVersion)
	}
}

func TestClaimedLengthAllocatesNothing(t *testing.T) { // G11
	for name, length := range map[string]uint64{"2 GiB": 2 << 30, "nearly all": 1<<63 - 10, "too many": 1<<64 - 1} {
		var list []byte
		list = append(list, wire.Magic...)
		list = append(list, 0x12) // raw
		list = binary.AppendUvarint(list, max(length, length+20))
		list = append(list, 0x12) // an item
		list = binary.AppendUvarint(list, length)
		list = append(list, "\x0a\x05\x0a\x03abc"...)
		allocated := allocatedBy(func() {
			stream := pods(&Client{}).readList(offline(t.Context(), bytes.NewReader(list)), Protobuf, nil)
			_, _, err := drainList(stream)
			require.ErrorIs(t, err, ErrMalformed, name)
			require.NoError(t, stream.Close())
		})
		require.Less(t, allocated, uint64(1<<20), name)
	}
}

func TestListQuery(t *testing.T) {
	t.Parallel()
	var got atomic.Pointer[url.URL]
	var accept atomic.Value
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.URL)
		accept.Store(r.Header.Get("Accept"))
		w.Header().Set("Content-Type", mediaTypeJSON)
		_, _ = io.WriteString(w, `{"kind":"PodList","items":null}`)
	}), Options{})
	r := Must(NewResource[*corev1.Pod](client, podsGVR, ResourceOptions{Namespace: "n", LabelSelector: "a=b,c!=d", FieldSelector: "spec.nodeName=n1"}))
	require.Equal(t, io.EOF, listErrWith(t.Context(), r, listwatch.ListOptions{
		ResourceVersion: "7", ResourceVersionMatch: metav1.ResourceVersionMatchExact, Limit: 500,
	}))
	require.Equal(t, "/api/v1/namespaces/n/pods", got.Load().Path)
	require.Equal(t, url.Values{
		"labelSelector": {"a=b,c!=d"}, "fieldSelector": {"spec.nodeName=n1"}, "limit": {"500"},
		"resourceVersion": {"7"}, "resourceVersionMatch": {"Exact"},
	}, got.Load().Query())
	require.Equal(t, "application/vnd.kubernetes.protobuf, application/json", accept.Load())

	require.Equal(t, io.EOF, listErrWith(t.Context(), r, listwatch.ListOptions{Continue: "abc"}))
	require.Equal(t, "abc", got.Load().Query().Get("continue"))
}

func TestIdleStreamsUseSmallBuffers(t *testing.T) {
	t.Parallel()
	// Objects must not share memory with the buffers, because the buffers are reused.
	for _, e := range encodings {
		body := podList(t, e, "1", plainPods(70)...)
		want := decodePodList(t, e, body)
		client := serveBytes(t, e, body)
		var all [][]listwatch.Item[*corev1.Pod]
		for range 5 {
			stream, err := pods(client).List(t.Context(), listwatch.ListOptions{})
			require.NoError(t, err)
			items, _, err := drainList(stream)
			require.Equal(t, io.EOF, err)
			require.NoError(t, stream.Close())
			all = append(all, items)
		}
		for _, items := range all {
			for i := range items {
				require.Equal(t, &want.Items[i], items[i].Object)
				require.Equal(t, want.Items[i].Name, items[i].Key.Name)
			}
		}
	}
}

// decodePodList decodes a whole list in one call, as apimachinery does.
func decodePodList(t testing.TB, e Encoding, body []byte) *corev1.PodList {
	t.Helper()
	list := &corev1.PodList{}
	require.NoError(t, apimachineryDecode(e, body, list))
	return list
}

func listErr[T any](ctx context.Context, r *Resource[T]) error {
	return listErrWith(ctx, r, listwatch.ListOptions{})
}

// listErrWith returns the error with which a list ends.
func listErrWith[T any](ctx context.Context, r *Resource[T], opts listwatch.ListOptions) error {
	stream, err := r.List(ctx, opts)
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	_, skipped, err := drainList(stream)
	if len(skipped) > 0 {
		return fmt.Errorf("unexpected: %w", skipped[0])
	}
	return err
}
