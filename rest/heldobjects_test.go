package rest

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"sync"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// funcDecoder implements Decoder by functions.
type funcDecoder struct {
	protobuf func(data []byte, object, earlier any) error
	json     func(data []byte, object any) error
}

func (f funcDecoder) DecodeProtobuf(data []byte, object, earlier any) error {
	return f.protobuf(data, object, earlier)
}

func (f funcDecoder) DecodeJSON(data []byte, object any) error { return f.json(data, object) }

// TestDecoderGetsTheHeldObject: for an event, a Decoder gets the object that Held returns
// for the key. If there is no such object, or the encoding is JSON, the Decoder gets no earlier
// object.
func TestDecoderGetsTheHeldObject(t *testing.T) {
	t.Parallel()
	sent := plainPods(2)
	held := &corev1.Pod{}
	for _, e := range encodings {
		var body []byte
		for i := range sent {
			body = append(body, event(t, e, "MODIFIED", "Pod", &sent[i])...)
		}
		var mu sync.Mutex
		var earlier []any
		r := Must(NewResource[*corev1.Pod](&Client{}, podsGVR, ResourceOptions{
			Decoder: funcDecoder{json: json.Unmarshal, protobuf: func(data []byte, object, before any) error {
				mu.Lock()
				defer mu.Unlock()
				earlier = append(earlier, before)
				return object.(*corev1.Pod).Unmarshal(data)
			}},
		}))
		x := offline(t.Context(), bytes.NewReader(body))
		stored := func(key types.NamespacedName) any {
			if key == (types.NamespacedName{Namespace: sent[1].Namespace, Name: sent[1].Name}) {
				return held
			}
			return nil
		}
		stream := r.readWatch(x, e, nil, stored)
		events, skipped, err := drainWatch(stream)
		require.NoError(t, stream.Close())
		require.Equal(t, io.EOF, err)
		require.Empty(t, skipped)
		require.Len(t, events, 2)
		for i := range sent {
			require.Equal(t, sent[i].Name, events[i].Object.Name)
			require.Equal(t, sent[i].Spec, events[i].Object.Spec)
		}
		if e == Protobuf {
			require.ElementsMatch(t, []any{nil, held}, earlier)
		} else {
			require.Empty(t, earlier)
		}
	}
}

// A stopped timer can keep an exchange alive for a minute. Meanwhile, the exchange must not keep
// the caller's data alive: this data may be a store of a gigabyte.
func TestClosedWatchReleasesHeldObjects(t *testing.T) {
	t.Parallel()
	pod := plainPods(1)[0]
	client := serveBytes(t, Protobuf, event(t, Protobuf, "MODIFIED", "Pod", &pod))
	store := new([64]int)
	alive := weak.Make(store)
	r := Must(NewResource[*corev1.Pod](client, podsGVR, ResourceOptions{
		Decoder: funcDecoder{protobuf: func(data []byte, object, _ any) error { return object.(*corev1.Pod).Unmarshal(data) }},
	}))
	holding := func(store any) func(types.NamespacedName) any {
		return func(types.NamespacedName) any { return store }
	}
	stream, err := r.Watch(t.Context(), listwatch.WatchOptions{Held: holding(store)})
	require.NoError(t, err)
	_, err = stream.Next()
	require.NoError(t, err)
	require.NoError(t, stream.Close())
	kept := stream.(*watchStream[*corev1.Pod]).pipeline.exchange
	stream, store = nil, nil
	for range 3 {
		runtime.GC()
	}
	require.True(t, alive.Value() == nil, "a closed watch must not keep the held objects alive")
	runtime.KeepAlive(kept)
}
