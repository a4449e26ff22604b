package sharing_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/rest/sharing"
)

// decodeAll decodes objects with d.
func decodeAll[T any](t testing.TB, d *sharing.Decoder, encoded [][]byte) []*T {
	objects := make([]*T, len(encoded))
	for i, data := range encoded {
		objects[i] = new(T)
		require.NoError(t, decodeJSON(d, data, objects[i]))
	}
	return objects
}

func TestEqualJSONPartsAreShared(t *testing.T) {
	t.Parallel()
	pods := decodeAll[corev1.Pod](t, sharing.New(sharing.Options{}), jsonPods(t, 3))
	a, b := pods[0], pods[2]
	require.NotSame(t, a, b)
	require.Same(t, &a.Spec.Tolerations[0], &b.Spec.Tolerations[0], "pods must share an equal list")
	require.Same(t, a.Spec.Containers[0].LivenessProbe, b.Spec.Containers[0].LivenessProbe, "pods must share an equal pointee")
	require.Same(t, a.OwnerReferences[0].Controller, b.OwnerReferences[0].Controller, "pods must share an equal bool")
	limits := a.Spec.Containers[0].Resources.Limits
	limits["marker"] = limits[corev1.ResourceMemory]
	require.Contains(t, b.Spec.Containers[0].Resources.Limits, corev1.ResourceName("marker"), "pods must share an equal map")

	alone := decodeAll[corev1.Pod](t, sharing.New(sharing.Options{MaxBytes: -1}), jsonPods(t, 3))
	require.NotSame(t, &alone[0].Spec.Tolerations[0], &alone[2].Spec.Tolerations[0])
	require.NotSame(t, alone[0].OwnerReferences[0].Controller, alone[2].OwnerReferences[0].Controller)
}

func TestOneDecoderServesBothEncodings(t *testing.T) {
	t.Parallel()
	d := sharing.New(sharing.Options{})
	for range 2 {
		inJSON, inProtobuf := decodeAll[corev1.Pod](t, d, jsonPods(t, 20)), decodePods(t, d, encodedPods(t, 20))
		require.Equal(t, inProtobuf, inJSON)
	}
}

func TestUnstructuredObjectsShareParts(t *testing.T) {
	t.Parallel()
	encoded := jsonPods(t, 200)
	d := sharing.New(sharing.Options{})
	objects := decodeAll[map[string]any](t, d, encoded)
	for i, object := range objects {
		var want map[string]any
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(encoded[i], &want))
		require.Equal(t, want, *object)
	}
	// New entries may replace entries of the table, so the objects have a few different probes.
	probes := map[unsafe.Pointer]bool{}
	for _, object := range objects[100:] {
		containers, _, _ := unstructured.NestedFieldNoCopy(*object, "spec", "containers")
		probe := containers.([]any)[0].(map[string]any)["livenessProbe"].(map[string]any)
		probes[reflect.ValueOf(probe).UnsafePointer()] = true
	}
	require.Less(t, len(probes), 10, "100 objects must share a few probes")
	require.NotEqual(t, reflect.ValueOf(*objects[150]).UnsafePointer(), reflect.ValueOf(*objects[160]).UnsafePointer())
}

// TestDuplicateJSONFieldsAreMerged: apimachinery merges two occurrences of a field. The merge must
// not change shared values of earlier objects.
func TestDuplicateJSONFieldsAreMerged(t *testing.T) {
	t.Parallel()
	d := sharing.New(sharing.Options{})
	const first = `{"spec":{"affinity":{"nodeAffinity":{}},"tolerations":[{"key":"a","value":"b"}]}}`
	const twice = `{"spec":{"affinity":{"nodeAffinity":{}}},"spec":{"affinity":{"podAffinity":{}},"tolerations":[{"key":"a","value":"b"}]}}`
	before := decodeAll[corev1.Pod](t, d, [][]byte{[]byte(first), []byte(first)})
	got := decodeAll[corev1.Pod](t, d, [][]byte{[]byte(twice)})[0]
	require.NotNil(t, got.Spec.Affinity.NodeAffinity)
	require.NotNil(t, got.Spec.Affinity.PodAffinity)
	require.NotSame(t, before[0].Spec.Affinity, got.Spec.Affinity)
	require.Nil(t, before[0].Spec.Affinity.PodAffinity)
	require.Same(t, before[0].Spec.Affinity, before[1].Spec.Affinity)
}

// TestQuantitiesMutatedByReadsAreNotSharedInJSON: a Quantity caches its text when it is first
// formatted, and changes its form when it is compared with a large Quantity.
func TestQuantitiesMutatedByReadsAreNotSharedInJSON(t *testing.T) {
	t.Parallel()
	const document = `{"spec":{"volumes":[{"name":"a","emptyDir":{"sizeLimit":"1024Mi"}}],
		"containers":[{"env":[{"name":"b","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1"}}}],
		"livenessProbe":{"exec":{}},"resources":{"limits":{"cpu":"1"}}}]}}`
	pods := decodeAll[corev1.Pod](t, sharing.New(sharing.Options{}), [][]byte{[]byte(document), []byte(document)})
	a, b := pods[0].Spec, pods[1].Spec
	require.NotSame(t, a.Volumes[0].EmptyDir, b.Volumes[0].EmptyDir)
	require.NotSame(t, &a.Containers[0].Env[0], &b.Containers[0].Env[0])
	require.Same(t, a.Containers[0].LivenessProbe, b.Containers[0].LivenessProbe)
	limits := a.Containers[0].Resources.Limits
	var group sync.WaitGroup
	for _, pod := range pods {
		group.Go(func() {
			if s := pod.Spec.Volumes[0].EmptyDir.SizeLimit.String(); s != "1Gi" {
				t.Errorf("the limit is %s", s)
			}
			_, err := json.Marshal(pod)
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	limits["marker"] = limits["cpu"]
	require.Contains(t, b.Containers[0].Resources.Limits, corev1.ResourceName("marker"), "the pods must share maps of quantities, because reading a value of a map copies it")

	type hidden struct {
		Sizes  [1]resource.Quantity `json:"sizes"`
		Self   *hidden              `json:"self"`
		Number [1]int               `json:"number"`
	}
	held := decodeAll[hidden](t, sharing.New(sharing.Options{}), slices.Repeat([][]byte{[]byte(`{"self":{"sizes":["1"],"self":{"number":[1]}}}`)}, 2))
	require.NotSame(t, held[0].Self, held[1].Self)
	require.Same(t, held[0].Self.Self, held[1].Self.Self)
}

func TestJSONDecoderIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	encoded := jsonPods(t, testsize.Scale(300, 100))
	want := decodeAll[corev1.Pod](t, sharing.New(sharing.Options{MaxBytes: -1}), encoded)
	const maxBytes, goroutines = 256 << 10, 4
	d := sharing.New(sharing.Options{MaxBytes: maxBytes})
	var group sync.WaitGroup
	for range goroutines {
		group.Go(func() {
			for i, pod := range decodeAll[corev1.Pod](t, d, encoded) {
				if !reflect.DeepEqual(want[i], pod) {
					t.Errorf("pod %d differs", i)
				}
			}
			decodeAll[map[string]any](t, d, encoded)
			// Each of the other goroutines may have inserted a value before it makes room for it.
			if stats := d.Stats(); stats.Bytes > maxBytes+(goroutines-1)*maxBytes/4 {
				t.Errorf("the table has %d bytes", stats.Bytes)
			}
		})
	}
	group.Wait()
	require.LessOrEqual(t, d.Stats().Bytes, int64(maxBytes))
}

func TestJSONErrorsNameTheByte(t *testing.T) {
	t.Parallel()
	d := sharing.New(sharing.Options{})
	for document, want := range map[string]string{
		`{"spec":{"nodeName":5}}`:                   `json: the number at byte 20 does not fit into string`,
		`{"spec":{"hostNetwork":true "a"}}`:         `json: a comma or } is expected at byte 28, not '"'`,
		`{"spec":{"containers":[{"name":"a"}`:       `is expected at byte 35, where the data ends`,
		`{"metadata":{"creationTimestamp":"soon"}}`: `json: v1.Time at byte 33: parsing time`,
		`{} {}`: `json: the end is expected at byte 3, not '{'`,
		`{"spec":{"overhead":{"cpu":"1e-1000000000x"}}}`:         `json: resource.Quantity at byte 27: quantities must match`,
		`{"spec":{"overhead":{"cpu":"1"},"overhead":{"cpu":5x}}`: `json: a comma or } is expected at byte 51, not 'x'`,
	} {
		require.ErrorContains(t, decodeJSON(d, []byte(document), &corev1.Pod{}), want)
	}
	require.ErrorContains(t, d.DecodeJSON(nil, corev1.Pod{}), "needs a pointer, not v1.Pod")
	require.ErrorContains(t, d.DecodeJSON(nil, (*corev1.Pod)(nil)), "needs a pointer")
	require.ErrorContains(t, d.DecodeJSON(nil, nil), "needs a pointer")
}

func TestDeepJSON(t *testing.T) {
	t.Parallel()
	d := sharing.New(sharing.Options{})
	for opening, closing := range map[string]string{
		`{"a":`: `}`, `[`: `]`, `{"selfs":[`: `]}`, `{"self":`: `}`, `{"any":`: `}`, `{"any":[`: `]}`, `{"maps":`: `}`,
	} {
		for _, n := range testsize.Sample([]int{5_001, 50_000, 4_999, 10_000, 5_000, 9_999, 10_001}, 3) {
			data := []byte(strings.Repeat(opening, n) + `{"deep":"end"}` + strings.Repeat(closing, n))
			for _, typ := range []reflect.Type{reflect.TypeFor[any](), reflect.TypeFor[everything]()} {
				wantErr := kjson.UnmarshalCaseSensitivePreserveInts(data, reflect.New(typ).Interface())
				err := decodeJSON(d, data, reflect.New(typ).Interface())
				require.Equal(t, wantErr == nil, err == nil, "%d of %s: %v, %v", n, opening, wantErr, err)
			}
		}
	}
}

// TestDeepJSONTakesLinearTime: the decoder may look up each level, or count its elements first. If
// it read the whole content of a level each time, it would take a hundred times as long.
func TestDeepJSONTakesLinearTime(t *testing.T) {
	d := sharing.New(sharing.Options{})
	levels := testsize.Scale(4_000, 1_000)
	for _, opening := range []string{`{"selfs":[`, `{"anyl":[`} {
		data := []byte(strings.Repeat(opening, levels) + `{"deep":"` + strings.Repeat("x", 1<<20) + `"}` + strings.Repeat(`]}`, levels))
		theirs := shortest(t, func() error { return kjson.UnmarshalCaseSensitivePreserveInts(data, &everything{}) })
		ours := shortest(t, func() error { return d.DecodeJSON(data, &everything{}) })
		require.Less(t, ours, 10*theirs+time.Second)
	}
}

// shortest returns the shortest duration of three calls of do, to exclude other load on the
// machine.
func shortest(t *testing.T, do func() error) time.Duration {
	t.Helper()
	least := time.Duration(math.MaxInt64)
	for range 3 {
		start := time.Now()
		require.NoError(t, do())
		least = min(least, time.Since(start))
	}
	return least
}

func TestLargeJSONList(t *testing.T) {
	t.Parallel()
	testsize.SkipIfShort(t, "decodes a list of 20,000 elements four times")
	d := sharing.New(sharing.Options{})
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, `,{"name":"a-%d","value":%q}`, i, strings.Repeat("x", 40))
	}
	data := []byte(`{"kind":"Widget","spec":{"items":[` + text.String()[1:] + `]}}`)
	require.Greater(t, len(data), 1<<20)
	for range 2 {
		var want, got map[string]any
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(data, &want))
		require.NoError(t, decodeJSON(d, data, &got))
		require.Equal(t, want, got)
	}
}
