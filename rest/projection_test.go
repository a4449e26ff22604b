package rest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/rest/internal/wire"
)

// withoutOmitted returns a copy of a pod without the parts that d names.
func withoutOmitted(d Omit, pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	if d.AllButMetadata {
		pod = &corev1.Pod{ObjectMeta: pod.ObjectMeta}
	}
	if d.ManagedFields {
		pod.ManagedFields = nil
	}
	for _, key := range d.Annotations {
		delete(pod.Annotations, key)
	}
	if len(pod.Annotations) == 0 {
		pod.Annotations = nil
	}
	if d.Status {
		pod.Status = corev1.PodStatus{}
	}
	return pod
}

var projections = map[string]Omit{
	"nothing":       {},
	"managedFields": {ManagedFields: true},
	"annotations":   {Annotations: []string{"a", "checksum/config"}},
	"status":        {Status: true},
	"metadata only": {AllButMetadata: true},
	"everything":    {ManagedFields: true, Annotations: []string{"a", "b", "checksum/config"}, Status: true, AllButMetadata: true},
}

func TestOmitKeepsOtherParts(t *testing.T) {
	t.Parallel()
	pods := append(randomPods(7, testsize.Scale(50, 10)), plainPods(2)...)
	for i := range pods {
		extra := map[string]string{"a": "1", "b": "2"}
		maps.Copy(extra, pods[i].Annotations)
		pods[i].Annotations = extra
		if i%2 == 0 {
			pods[i].Annotations = map[string]string{"a": "x"}
		}
	}
	for name, d := range projections {
		for _, e := range encodings {
			t.Run(name+" in "+e.String(), func(t *testing.T) {
				t.Parallel()
				whole := readPods(t, Must(NewResource[*corev1.Pod](&Client{}, podsGVR, ResourceOptions{})), e, pods)
				cut := readPods(t, Must(NewResource[*corev1.Pod](&Client{}, podsGVR, ResourceOptions{Project: d})), e, pods)
				require.Len(t, cut, len(pods))
				for i := range whole {
					require.Equal(t, withoutOmitted(d, whole[i]), withoutOmitted(Omit{}, cut[i]))
				}
			})
		}
	}
}

func readPods(t *testing.T, r *Resource[*corev1.Pod], e Encoding, pods []corev1.Pod) []*corev1.Pod {
	stream := r.readList(offline(t.Context(), bytes.NewReader(podList(t, e, "1", pods...))), e, nil)
	items, skipped, err := drainList(stream)
	require.NoError(t, stream.Close())
	require.Equal(t, io.EOF, err)
	require.Empty(t, skipped)
	var read []*corev1.Pod
	for i, item := range items {
		require.Equal(t, pods[i].Name, item.Key.Name, "a projection must not change the identity")
		require.Equal(t, pods[i].ResourceVersion, item.ResourceVersion)
		read = append(read, item.Object)
	}
	return read
}

func TestOmitFindsStatusFieldByType(t *testing.T) {
	t.Parallel()
	config := corev1.ConfigMap{BinaryData: map[string][]byte{"k": {1}}} // field number 3
	data, err := config.Marshal()
	require.NoError(t, err)
	project := Omit{Status: true}.remover(reflect.TypeFor[*corev1.ConfigMap]())
	require.Equal(t, data, project(wire.Protobuf, bytes.Clone(data)))
}

func TestOmitOnAWatch(t *testing.T) {
	t.Parallel()
	pod := plainPod(1)
	for _, e := range encodings {
		client := &Client{}
		r := Must(NewResource[*corev1.Pod](client, podsGVR, ResourceOptions{Project: Omit{ManagedFields: true}}))
		stream := r.readWatch(offline(t.Context(), bytes.NewReader(event(t, e, "MODIFIED", "Pod", &pod))), e, nil, nil)
		events, _, err := drainWatch(stream)
		require.NoError(t, stream.Close())
		require.Equal(t, io.EOF, err)
		require.Equal(t, pod.Name, events[0].Key.Name)
		require.Empty(t, events[0].Object.ManagedFields)
		require.Equal(t, pod.Spec, events[0].Object.Spec)
		without := pod.DeepCopy()
		without.ManagedFields = nil
		less := pod.Size() - without.Size()
		if e == JSON {
			less = len(Must(json.Marshal(&pod))) - len(Must(json.Marshal(without)))
		}
		require.InDelta(t, less, client.counters.omitted.Load(), 3, "%v", e)
	}
}

func TestOmitDoesNotRepairMalformedJSON(t *testing.T) {
	t.Parallel()
	project := Omit{ManagedFields: true, Status: true, Annotations: []string{"a"}}.remover(reflect.TypeFor[any]())
	for _, text := range []string{
		``, `null`, `[]`, `{`, `{,}`, `{"a":1,}`, `{"status":1,}`, `{"a" 1}`, `{"metadata":{"managedFields":[],}}`,
		`{"metadata":{"annotations":{"a":"x",}}}`, `{"metadata":3}`, `{"a":1}}`, `{"status":1`, `{"a":1 "b":2}`,
	} {
		got := project(wire.JSON, []byte(text))
		require.Equal(t, json.Valid([]byte(text)), json.Valid(got), "%s became %s", text, got)
	}
	require.Equal(t, `{"b": 2 }`, string(project(wire.JSON, []byte(`{"status":{"a":[1,"}"]} ,"b": 2 }`))))
}

// FuzzOmitProtobuf applies an Omit to arbitrary bytes. Nothing may panic. If generated code decodes
// the bytes, the result must be the same except for the omitted parts. Bytes with groups are
// excluded; see readHeader.
func FuzzOmitProtobuf(f *testing.F) {
	pod := plainPod(1)
	f.Add(marshal(f, &pod))
	for _, pod := range smallPods() {
		f.Add(marshal(f, &pod))
	}
	f.Add([]byte("\x0a\x85\x80\x00\x62\x03\x0a\x01a\x0a\x02\x0a\x00"))
	d := projections["everything"]
	d.AllButMetadata = false
	f.Fuzz(func(t *testing.T, data []byte) {
		var want, got corev1.Pod
		if want.Unmarshal(data) != nil || !walkable(data, true) {
			d.remover(reflect.TypeFor[*corev1.Pod]())(wire.Protobuf, data)
			return
		}
		require.NoError(t, got.Unmarshal(d.remover(reflect.TypeFor[*corev1.Pod]())(wire.Protobuf, bytes.Clone(data))))
		require.Equal(t, withoutOmitted(d, &want), withoutOmitted(Omit{}, &got))
	})
}

// walkable reports whether a message has no groups. If it is an object, its metadata must have no
// groups either.
func walkable(message []byte, object bool) bool {
	for len(message) > 0 {
		h, value, rest, err := wire.NextField(message, false)
		isMetadata := object && h.Field == 1 && h.Type == wire.TypeBytes
		if err != nil || isMetadata && !walkable(value, false) {
			return false
		}
		message = rest
	}
	return true
}

// FuzzOmitJSON is FuzzOmitProtobuf for JSON.
func FuzzOmitJSON(f *testing.F) {
	for _, pod := range append(smallPods(), plainPod(1)) {
		f.Add(encode(f, JSON, "Pod", &pod))
	}
	f.Add([]byte(`{"metadata":{"annotations":{"a":"b","\u0061":"c"},"managedFields":[{}]},"status":{},"status":{},"spec":{}}`))
	d := projections["everything"]
	d.AllButMetadata = false
	f.Fuzz(func(t *testing.T, data []byte) {
		type object struct {
			Metadata struct {
				metav1.ObjectMeta
			} `json:"metadata"`
			Spec   any
			Status any
		}
		var want, got object
		if kjson.UnmarshalCaseSensitivePreserveInts(data, &want) != nil || !json.Valid(data) || !bytes.HasPrefix(data, []byte("{")) {
			d.remover(reflect.TypeFor[any]())(wire.JSON, data)
			return
		}
		cut := d.remover(reflect.TypeFor[any]())(wire.JSON, bytes.Clone(data))
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(cut, &got), "%s", cut)
		require.LessOrEqual(t, len(cut), len(data))
		want.Metadata.ManagedFields = nil
		require.Empty(t, got.Metadata.ManagedFields)
		require.Equal(t, want.Metadata.Name, got.Metadata.Name)
		require.Equal(t, want.Spec, got.Spec)
		for _, key := range d.Annotations {
			require.NotContains(t, got.Metadata.Annotations, key)
		}
	})
}
