package sharing_test

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/rest/sharing"
)

// decodePods decodes pods with d.
func decodePods(t testing.TB, d *sharing.Decoder, encoded [][]byte) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(encoded))
	for i, data := range encoded {
		pods[i] = &corev1.Pod{}
		require.NoError(t, unmarshal(d, data, pods[i]))
	}
	return pods
}

func TestEqualPartsAreShared(t *testing.T) {
	t.Parallel()
	pods := decodePods(t, sharing.New(sharing.Options{}), encodedPods(t, 3))
	a, b := pods[0], pods[2]
	require.NotSame(t, a, b)
	require.Same(t, &a.Spec.Tolerations[0], &b.Spec.Tolerations[0], "pods must share an equal list")
	require.Same(t, a.Spec.Containers[0].LivenessProbe, b.Spec.Containers[0].LivenessProbe, "pods must share an equal pointee")
	require.Same(t, a.OwnerReferences[0].Controller, b.OwnerReferences[0].Controller, "pods must share an equal bool")
	limits := a.Spec.Containers[0].Resources.Limits
	limits["marker"] = limits[corev1.ResourceMemory]
	require.Contains(t, b.Spec.Containers[0].Resources.Limits, corev1.ResourceName("marker"), "pods must share an equal map")

	alone := decodePods(t, sharing.New(sharing.Options{MaxBytes: -1}), encodedPods(t, 3))
	require.NotSame(t, &alone[0].Spec.Tolerations[0], &alone[2].Spec.Tolerations[0])
	require.NotSame(t, alone[0].OwnerReferences[0].Controller, alone[2].OwnerReferences[0].Controller)
}

func TestDeepCopyOfASharedObjectIsIndependent(t *testing.T) {
	t.Parallel()
	encoded := encodedPods(t, 2)
	pods := decodePods(t, sharing.New(sharing.Options{}), encoded)
	own := pods[0].DeepCopy()
	own.Spec.Containers[0].LivenessProbe.HTTPGet.Path = "/changed"
	own.Spec.Containers[0].Resources.Limits["gpu"] = own.Spec.Containers[0].Resources.Limits[corev1.ResourceMemory]
	own.Spec.Tolerations[0].Key = "changed"
	own.ManagedFields = append(own.ManagedFields[:1], metav1.ManagedFieldsEntry{Manager: "me"})
	*own.OwnerReferences[0].Controller = false
	own.Labels["changed"] = "yes"
	require.Equal(t, decodePods(t, sharing.New(sharing.Options{}), encoded), pods)
}

func TestAppendToSharedListMakesACopy(t *testing.T) {
	t.Parallel()
	encoded := encodedPods(t, 2)
	pods := decodePods(t, sharing.New(sharing.Options{}), encoded)
	for range 2 {
		pods[0].Spec.Tolerations = append(pods[0].Spec.Tolerations, corev1.Toleration{Key: "mine"})
	}
	require.Len(t, pods[1].Spec.Tolerations, 2)
	require.Empty(t, pods[1].Spec.Tolerations[:2:2][1].Value)
}

// TestDuplicateProtobufFieldsAreMerged: in protobuf, two occurrences of a message field are one
// message. The merge must not change shared values of earlier objects.
func TestDuplicateProtobufFieldsAreMerged(t *testing.T) {
	t.Parallel()
	first, second := encodedPods(t, 2)[0], encodedPods(t, 2)[1]
	d := sharing.New(sharing.Options{})
	before := decodePods(t, d, [][]byte{first, second})
	twice := append(append([]byte{}, first...), second...)
	var want, got corev1.Pod
	require.NoError(t, want.Unmarshal(twice))
	require.NoError(t, unmarshal(d, twice, &got))
	require.Equal(t, want, got)
	require.Len(t, got.Spec.Containers, 4)
	require.Equal(t, decodePods(t, sharing.New(sharing.Options{}), [][]byte{first, second}), before)
}

func TestTheTableIsBounded(t *testing.T) {
	t.Parallel()
	const limit = 64 << 10
	d := sharing.New(sharing.Options{MaxBytes: limit})
	encoded := encodedPods(t, 500)
	for i, pod := range decodePods(t, d, encoded) {
		var want corev1.Pod
		require.NoError(t, want.Unmarshal(encoded[i]))
		require.Equal(t, &want, pod)
		require.LessOrEqual(t, d.Stats().Bytes, int64(limit))
	}
	stats := d.Stats()
	require.Positive(t, stats.Entries)
	require.Positive(t, stats.Hits)
}

func TestUnrepeatedFieldsAreNoLongerLookedUp(t *testing.T) {
	t.Parallel()
	testsize.SkipIfShort(t, "decodes 4,000 pods")
	d := sharing.New(sharing.Options{})
	encoded := encodedPods(t, 2000)
	decodePods(t, d, encoded)
	learned := d.Stats()
	require.Less(t, learned.ActiveFields, learned.Fields)
	decodePods(t, d, encoded)
	after := d.Stats()
	lookups, hits := after.Lookups-learned.Lookups, after.Hits-learned.Hits
	require.Greater(t, float64(hits)/float64(lookups), 0.8, "%d of %d", hits, lookups)
}

func TestDecoderIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	encoded := encodedPods(t, testsize.Scale(300, 150))
	want := decodePods(t, sharing.New(sharing.Options{MaxBytes: -1}), encoded)
	d := sharing.New(sharing.Options{MaxBytes: 256 << 10})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i, pod := range decodePods(t, d, encoded) {
				if !reflect.DeepEqual(want[i], pod) {
					t.Errorf("pod %d differs", i)
				}
				d.Stats()
			}
		})
	}
	group.Wait()
}

type tree struct {
	Left *tree  `protobuf:"bytes,1,opt,name=left"`
	Name string `protobuf:"bytes,2,opt,name=name"`
}

func TestUserTypes(t *testing.T) {
	t.Parallel()
	d := sharing.New(sharing.Options{})
	var slim struct {
		metav1.ObjectMeta `protobuf:"bytes,1"`
		Spec              struct {
			NodeName string `protobuf:"bytes,10"`
		} `protobuf:"bytes,2,opt,name=spec"`
		Note string // has no tag, so it is not decoded
	}
	data := encodedPods(t, 1)[0]
	var pod corev1.Pod
	require.NoError(t, pod.Unmarshal(data))
	require.NoError(t, d.DecodeProtobuf(data, &slim, nil))
	require.Equal(t, pod.ObjectMeta, slim.ObjectMeta)
	require.Equal(t, pod.Spec.NodeName, slim.Spec.NodeName)

	var root tree
	require.NoError(t, d.DecodeProtobuf([]byte("\x0a\x05\x0a\x03\x12\x01x"), &root, nil))
	require.Equal(t, "x", root.Left.Left.Name)
	deep := []byte{}
	for range 10_001 {
		deep = append(appendLength([]byte{0x0a}, len(deep)), deep...)
	}
	require.ErrorContains(t, d.DecodeProtobuf(deep, &root, nil), "too deep")
}

// TestObjectsDoNotReferToInput: no string refers to the decoded bytes, which the test overwrites
// afterwards. The data has a list in two parts, whose array moves in between, and a map of
// messages.
func TestObjectsDoNotReferToInput(t *testing.T) {
	t.Parallel()
	type part struct {
		Names []string `protobuf:"bytes,1,rep"`
		Other string   `protobuf:"bytes,2"`
	}
	type whole struct {
		Name  string          `protobuf:"bytes,1"`
		Parts map[string]part `protobuf:"bytes,2,rep"`
		Twice []part          `protobuf:"bytes,3,rep"`
	}
	const data = "\x0a\x03one" + "\x1a\x05\x0a\x03AAA" + "\x0a\x03two" +
		"\x12\x16\x0a\x01k\x12\x11\x0a\x03aaa\x12\x03ooo\x0a\x03bbb\x0a\x00" + "\x1a\x05\x12\x03PPP" + "\x1a\x00"
	for _, limit := range []int64{0, -1} {
		d := sharing.New(sharing.Options{MaxBytes: limit})
		for range 3 {
			var got whole
			require.NoError(t, unmarshal(d, []byte(data), &got))
			require.Equal(t, whole{
				Name:  "two",
				Parts: map[string]part{"k": {Names: []string{"aaa", "bbb", ""}, Other: "ooo"}},
				Twice: []part{{Names: []string{"AAA"}}, {Other: "PPP"}, {}},
			}, got)
		}
	}
}

func appendLength(b []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func TestErrorsNameTheTypeOrField(t *testing.T) {
	t.Parallel()
	d := sharing.New(sharing.Options{})
	require.ErrorContains(t, d.DecodeProtobuf(nil, corev1.Pod{}, nil), "needs a pointer to a struct, not v1.Pod")
	require.ErrorContains(t, d.DecodeProtobuf(nil, (*corev1.Pod)(nil), nil), "needs a pointer")
	require.ErrorContains(t, d.DecodeProtobuf(nil, &map[string]any{}, nil), "needs a pointer to a struct")
	require.ErrorContains(t, d.DecodeProtobuf(nil, &struct{ Name string }{}, nil), "has a protobuf tag")
	for want, object := range map[string]any{
		"has no number": &struct {
			A string `protobuf:"bytes"`
		}{},
		"between 1 and": &struct {
			A string `protobuf:"bytes,0"`
		}{},
		"no protobuf encoding": &struct {
			A float64 `protobuf:"bytes,1"`
		}{},
		`"fixed64" is not known`: &struct {
			A int64 `protobuf:"fixed64,1"`
		}{},
		"must be strings": &struct {
			A map[int]string `protobuf:"bytes,1"`
		}{},
		"cannot have values": &struct {
			A map[string]*string `protobuf:"bytes,1"`
		}{},
		"cannot be repeated": &struct {
			A []*string `protobuf:"bytes,1,rep"`
		}{},
		"not exported": &struct {
			a string `protobuf:"bytes,1"`
		}{},
	} {
		err := d.DecodeProtobuf(nil, object, nil)
		require.ErrorContains(t, err, want)
		require.Equal(t, err.Error(), d.DecodeProtobuf(nil, object, nil).Error(), "every call must return the same error")
	}
	fields := d.Stats().Fields
	require.Error(t, d.DecodeProtobuf(nil, &struct{ Name string }{}, nil))
	type broken struct {
		A string  `protobuf:"bytes,1"`
		B float64 `protobuf:"bytes,2"`
	}
	for range 2 {
		require.Error(t, d.DecodeProtobuf(nil, &broken{}, nil))
		fields++ // counts once
	}
	require.Less(t, d.Stats().Fields, fields, "a type that cannot be decoded must not add fields with each object")
	var pod corev1.Pod
	require.ErrorContains(t, d.DecodeProtobuf([]byte("\x08\x01"), &pod, nil), "Pod.ObjectMeta: unexpected wire type 0")
}

func TestUnrepeatedValuesLeaveTheTable(t *testing.T) {
	t.Parallel()
	testsize.SkipIfShort(t, "decodes 3,300 pods")
	d := sharing.New(sharing.Options{})
	var encoded [][]byte
	for pod := range apitest.Pods(3300, apitest.PodOptions{Namespaces: 110}) {
		// pods of 110 workloads
		data, err := pod.Marshal()
		require.NoError(t, err)
		encoded = append(encoded, data)
	}
	decodePods(t, d, encoded[:300]) // the decoder still looks up fields that do not repeat
	before := d.Stats()
	require.Greater(t, before.Bytes, int64(1<<20))
	decodePods(t, d, encoded[300:])
	require.Less(t, d.Stats().Bytes, before.Bytes)
	require.Greater(t, d.Stats().Entries, int64(1000), "values that repeat must stay in the table")
}

// nest is a message that contains itself.
type nest struct {
	Text string `protobuf:"bytes,1,opt,name=text"`
	Nest *nest  `protobuf:"bytes,2,opt,name=nest"`
}

// TestDeepMessagesTakeLinearTime: the decoder may look up each level. If it hashed and copied the
// whole content of a level each time, it would take a quarter of a minute.
func TestDeepMessagesTakeLinearTime(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 4<<20)
	size := len(text)
	headers := [][]byte{appendLength([]byte("\x0a"), size)}
	for range 9_000 {
		size += len(headers[len(headers)-1])
		headers = append(headers, appendLength([]byte("\x12"), size))
	}
	slices.Reverse(headers)
	data := append(slices.Concat(headers...), text...)
	var got nest
	start := time.Now()
	require.NoError(t, sharing.New(sharing.Options{}).DecodeProtobuf(data, &got, nil))
	require.Less(t, time.Since(start), 10*time.Second)
	for got.Nest != nil {
		got = *got.Nest
	}
	require.Equal(t, text, got.Text)
}
