package rest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/rest/internal/decode"
	"github.com/kinform/kinform/rest/internal/wire"
)

// fuzzMax is the largest size of an object in fuzz tests, in bytes. It is so small that inputs
// exceed it.
const fuzzMax = 1 << 10

// FuzzJSONList passes arbitrary bytes to a framer, in pieces of any size. Nothing may panic, and
// the size of the pieces must make no difference. The framer must find the same items as
// encoding/json.
func FuzzJSONList(f *testing.F) {
	f.Add(podList(f, JSON, "7", smallPods()...))
	f.Add([]byte(`{"apiVersion":"v1","items":[{"metadata":{"name":"a\n\"}]"}}, {}],"kind":"FooList","metadata":{"continue":"c"}} `))
	f.Add([]byte(`{"kind":"List","items":null,"x":[{"items":[1]}]}`))
	f.Add([]byte(`{"kind":"Table"}`))
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		frames, err := framesInPieces(t, func() wire.Framer { return wire.NewJSONList(fuzzMax, (*decode.KindChecker)(nil).CheckList) }, data)
		readAsList(t, fuzzedPods, JSON, data)
		readAsList(t, fuzzedMaps, JSON, data)
		if len(data) > fuzzMax || !json.Valid(data) || !isPlainObject(data) {
			return
		}
		var want struct {
			Kind     string            `json:"kind"`
			Metadata metav1.ListMeta   `json:"metadata"`
			Items    []json.RawMessage `json:"items"`
		}
		if kjson.UnmarshalCaseSensitivePreserveInts(data, &want) != nil || !strings.HasSuffix(want.Kind, "List") {
			return
		}
		require.Equal(t, io.EOF, err, "the framer must accept a valid list")
		require.Len(t, frames, len(want.Items))
		for i := range frames {
			require.Equal(t, string(want.Items[i]), string(frames[i].Data))
		}
	})
}

// FuzzJSONWatch is FuzzJSONList for the events of a watch.
func FuzzJSONWatch(f *testing.F) {
	for _, pod := range smallPods() {
		f.Add(append(event(f, JSON, "ADDED", "Pod", &pod), event(f, JSON, "DELETED", "Pod", &pod)...))
		f.Add(event(f, JSON, "BOOKMARK", "Pod", &pod))
	}
	f.Add([]byte(`{"type":"ERROR","object":{"kind":"Status","status":"Failure","code":410}}`))
	f.Add([]byte(`{"object":{"metadata":{"name":"\u0061"}},"type":"ADDED"}{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		frames, _ := framesInPieces(t, func() wire.Framer { return wire.NewJSONWatch(fuzzMax) }, data)
		readAsWatch(t, fuzzedPods, JSON, data)
		readAsWatch(t, fuzzedMaps, JSON, data)
		if len(data) > fuzzMax {
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(data))
		for i := 0; ; i++ {
			var want json.RawMessage
			if decoder.Decode(&want) != nil || want[0] != '{' {
				return
			}
			require.Greater(t, len(frames), i)
			require.Equal(t, string(want), string(frames[i].Data))
		}
	})
}

// FuzzProtobufList passes arbitrary bytes to a framer. Nothing may panic, and the size of the
// pieces must make no difference. If generated code also decodes the bytes, its result must be the
// same.
func FuzzProtobufList(f *testing.F) {
	f.Add(podList(f, Protobuf, "7", smallPods()...))
	f.Add(podList(f, Protobuf, "", plainPod(1)))
	f.Add([]byte(wire.Magic + "\x12\x06\x12\x00\x0a\x00\x18\x01\x0a\x09\x12\x07PodList"))
	f.Add(append([]byte(wire.Magic+"\x12\xff\xff\xff\xff\x0f\x12"), binary.AppendUvarint(nil, 2<<30)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := framesInPieces(t, func() wire.Framer { return wire.NewProtobufList(fuzzMax, (*decode.KindChecker)(nil).CheckList) }, data)
		items, skipped := readAsList(t, fuzzedPods, Protobuf, data)
		if err != io.EOF || len(skipped) > 0 {
			return
		}
		var unknown runtime.Unknown
		var want corev1.PodList
		if unknown.Unmarshal(data[len(wire.Magic):]) != nil || want.Unmarshal(unknown.Raw) != nil {
			return // a field has a known number with another type
		}
		require.Len(t, items, len(want.Items))
		for i := range items {
			require.Equal(t, marshal(t, &want.Items[i]), marshal(t, items[i]))
		}
	})
}

// FuzzProtobufWatch is like FuzzProtobufList, for the events of a watch.
func FuzzProtobufWatch(f *testing.F) {
	for _, pod := range smallPods() {
		f.Add(append(event(f, Protobuf, "ADDED", "Pod", &pod), event(f, Protobuf, "DELETED", "Pod", &pod)...))
		f.Add(event(f, Protobuf, "BOOKMARK", "Pod", &pod))
	}
	f.Add(event(f, Protobuf, "ERROR", "Status", &metav1.Status{Status: metav1.StatusFailure, Code: 410}))
	f.Add([]byte("\x80\x00\x00\x00\x0a\x05ADDED"))
	f.Fuzz(func(t *testing.T, data []byte) {
		frames, err := framesInPieces(t, func() wire.Framer { return wire.NewProtobufWatch(fuzzMax) }, data)
		readAsWatch(t, fuzzedPods, Protobuf, data)
		rest := data
		for _, frame := range frames {
			length := int(binary.BigEndian.Uint32(rest))
			require.Equal(t, length > fuzzMax, frame.Err != nil)
			if frame.Err == nil {
				require.Equal(t, rest[4:4+length], frame.Data)
			}
			rest = rest[min(4+length, len(rest)):]
		}
		require.Equal(t, err == io.EOF, len(rest) == 0 && !cutOff(data))
	})
}

// cutOff reports whether the last event is shorter than its length says.
func cutOff(data []byte) bool {
	for len(data) > 0 {
		if len(data) < 4 || len(data)-4 < int(binary.BigEndian.Uint32(data)) {
			return true
		}
		data = data[4+binary.BigEndian.Uint32(data):]
	}
	return false
}

func smallPods() []corev1.Pod {
	return []corev1.Pod{
		{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "n", ResourceVersion: "1"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "b", ResourceVersion: "2", Labels: map[string]string{"k": `"\é`}}, Spec: corev1.PodSpec{NodeName: "n1"}},
	}
}

func marshal(t testing.TB, pod *corev1.Pod) []byte {
	data, err := pod.Marshal()
	require.NoError(t, err)
	return data
}

// isPlainObject reports whether valid JSON is an object without duplicate keys.
func isPlainObject(data []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return false
	}
	seen := map[string]bool{}
	for decoder.More() {
		key, err := decoder.Token()
		var value json.RawMessage
		if err != nil || seen[key.(string)] || decoder.Decode(&value) != nil {
			return false
		}
		seen[key.(string)] = true
	}
	return true
}

// framesInPieces passes data to a framer in one piece and byte by byte, and checks that both ways
// have the same result.
func framesInPieces(t *testing.T, newFramer func() wire.Framer, data []byte) ([]wire.Frame, error) {
	t.Helper()
	frames, err := readFrames(newFramer(), data, len(data)+1)
	again, errAgain := readFrames(newFramer(), data, 1)
	require.Equal(t, err == io.EOF, errAgain == io.EOF, "%v, %v", err, errAgain)
	require.Equal(t, errors.Is(err, ErrTooLarge), errors.Is(errAgain, ErrTooLarge))
	require.Len(t, again, len(frames))
	for i := range frames {
		require.Equal(t, frames[i].Data, again[i].Data)
		require.Equal(t, frames[i].Err, again[i].Err)
	}
	return frames, err
}

// readFrames passes data to a framer, in pieces of this many bytes.
func readFrames(c wire.Framer, data []byte, piece int) (frames []wire.Frame, err error) {
	start := 0
	for end := 0; ; {
		f, done, err := c.NextFrame(data[start:end])
		start += done
		switch {
		case err != nil:
			return frames, err
		case f.Data != nil:
			frames = append(frames, wire.Frame{Data: bytes.Clone(f.Data), Err: f.Err})
		case end == len(data):
			return frames, c.End(data[start:])
		default:
			end = min(end+piece, len(data))
		}
	}
}

var (
	fuzzedPods = Must(NewResource[*corev1.Pod](&Client{}, podsGVR, ResourceOptions{}))
	fuzzedMaps = Must(NewJSONResource[*unstructured.Unstructured](&Client{}, podsGVR, ResourceOptions{}))
)

func readAsList[T any](t *testing.T, r *Resource[T], e Encoding, data []byte) (objects []T, skipped []error) {
	t.Helper()
	stream := r.readList(offline(t.Context(), bytes.NewReader(data)), e, nil)
	items, failed, err := drainList(stream)
	require.Error(t, err)
	require.NoError(t, stream.Close())
	for _, item := range items {
		require.NotEmpty(t, item.Key.Name)
		objects = append(objects, item.Object)
	}
	for _, f := range failed {
		skipped = append(skipped, f)
	}
	return objects, skipped
}

func readAsWatch[T any](t *testing.T, r *Resource[T], e Encoding, data []byte) {
	t.Helper()
	stream := r.readWatch(offline(t.Context(), bytes.NewReader(data)), e, nil, nil)
	_, _, err := drainWatch(stream)
	require.Error(t, err)
	require.NoError(t, stream.Close())
}
