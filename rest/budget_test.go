package rest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/budget"
	"github.com/kinform/kinform/rest/internal/wire"
)

// field returns a message field with this number and value.
func field(number int, value []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(number)<<3|wire.TypeBytes)
	return append(binary.AppendUvarint(out, uint64(len(value))), value...)
}

// bombPod returns a pod with this many empty containers.
func bombPod(e Encoding, name string, containers int) []byte {
	if e == JSON {
		return fmt.Appendf(nil, `{"metadata":{"name":%q,"resourceVersion":"1"},"spec":{"containers":[{}%s]}}`, name, strings.Repeat(",{}", containers-1))
	}
	spec := bytes.Repeat(field(2, nil), containers)
	return append(field(1, append(field(1, []byte(name)), field(6, []byte("1"))...)), field(2, spec)...)
}

// listOf returns a list of encoded objects.
func listOf(e Encoding, kind string, objects ...[]byte) []byte {
	if e == JSON {
		return fmt.Appendf(nil, `{"kind":%q,"apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[%s]}`, kind, bytes.Join(objects, []byte(",")))
	}
	raw := field(1, field(2, []byte("7")))
	for _, object := range objects {
		raw = append(raw, field(2, object)...)
	}
	return enveloped(kind, raw)
}

func enveloped(kind string, raw []byte) []byte {
	out := append([]byte(wire.Magic), field(1, append(field(1, []byte("v1")), field(2, []byte(kind))...))...)
	return append(out, field(2, raw)...)
}

// eventOf returns a watch event with an encoded object.
func eventOf(e Encoding, name, kind string, object []byte) []byte {
	if e == JSON {
		return fmt.Appendf(nil, `{"type":%q,"object":{"kind":%q,"apiVersion":"v1",%s}`, name, kind, object[1:])
	}
	data := append(field(1, []byte(name)), field(2, field(1, enveloped(kind, object)))...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
}

// peakHeap returns an upper bound for the memory that f used at once: all memory taken while f
// ran, including memory that has been freed since.
func peakHeap(f func()) uint64 {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Without the estimate, 14 kB of gzip would become a pod of 14 MB with seven million containers,
// which takes 3.2 GiB of heap.
func TestG11_ObjectOverMemoryBudgetIsRefusedByKey(t *testing.T) {
	containers := testsize.Scale(5_000_000, 400_000) // 10 MB of protobuf, 15 MB of JSON
	for _, e := range encodings {
		bomb, good := bombPod(e, "bomb", containers), bombPod(e, "good", 3)
		for name, opts := range map[string]ResourceOptions{
			"default": {}, "unshared": {Unshared: true},
		} {
			t.Run(e.String()+" "+name, func(t *testing.T) {
				client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", contentType(e))
					switch {
					case r.URL.Query().Has("watch"):
						_, _ = w.Write(eventOf(e, "MODIFIED", "Pod", bomb))
						_, _ = w.Write(eventOf(e, "ADDED", "Pod", good))
					case strings.HasSuffix(r.URL.Path, "/bomb") && e == JSON:
						_, _ = w.Write(append([]byte(`{"kind":"Pod","apiVersion":"v1",`), bomb[1:]...))
					case strings.HasSuffix(r.URL.Path, "/bomb"):
						_, _ = w.Write(enveloped("Pod", bomb))
					default:
						_, _ = w.Write(listOf(e, "PodList", bomb, good))
					}
				}), Options{MaxRetries: -1})
				r := Must(NewResource[*corev1.Pod](client, podsGVR, opts))
				took := peakHeap(func() {
					stream, err := r.List(t.Context(), listwatch.ListOptions{})
					require.NoError(t, err)
					items, skipped, err := drainList(stream)
					require.Equal(t, io.EOF, err)
					require.NoError(t, stream.Close())
					require.Len(t, items, 1)
					require.Len(t, skipped, 1)
					require.Equal(t, "bomb", skipped[0].Key.Name)
					require.ErrorIs(t, skipped[0], ErrTooLarge)
					require.ErrorContains(t, skipped[0], "rest.Options.MaxExpansion")

					watch, err := r.Watch(t.Context(), listwatch.WatchOptions{})
					require.NoError(t, err)
					events, skipped, err := drainWatch(watch)
					require.Equal(t, io.EOF, err)
					require.NoError(t, watch.Close())
					require.Len(t, events, 1)
					require.Len(t, skipped, 1)
					require.ErrorIs(t, skipped[0], ErrTooLarge)
					require.Equal(t, listwatch.Modified, skipped[0].Type)

					_, err = r.Get(t.Context(), types.NamespacedName{Namespace: "n", Name: "bomb"}, metav1.GetOptions{})
					require.ErrorIs(t, err, ErrTooLarge)
				})
				require.Less(t, took, uint64(512<<20), "the client must allocate only the buffers for the bytes")
			})
		}
	}
}

// Many small objects over the budget would take as much memory as a large one.
func TestG11_ManySmallObjectsOverMemoryBudget(t *testing.T) {
	for _, e := range encodings {
		var objects [][]byte
		for i := range 400 {
			objects = append(objects, bombPod(e, fmt.Sprint("bomb-", i), 500))
		}
		body := listOf(e, "PodList", objects...)
		took := peakHeap(func() {
			stream := pods(&Client{}).readList(offline(t.Context(), bytes.NewReader(body)), e, nil)
			items, skipped, err := drainList(stream)
			require.Equal(t, io.EOF, err)
			require.Empty(t, items)
			require.Len(t, skipped, 400)
			require.NoError(t, stream.Close())
		})
		require.Less(t, took, uint64(16<<20), "refused objects must take little memory, not 90 MB")
	}
}

// recursiveMessage contains itself, like JSONSchemaProps. It decodes itself in the same way as
// generated code does: with a call for each level.
type recursiveMessage struct {
	metav1.ObjectMeta `json:"metadata" protobuf:"bytes,1,opt,name=metadata"`
	In                *recursiveMessage           `json:"in" protobuf:"bytes,2,opt,name=in"`
	List              []recursiveMessage          `json:"list" protobuf:"bytes,3,rep,name=list"`
	Map               map[string]recursiveMessage `json:"map" protobuf:"bytes,4,rep,name=map"`
	levels            int
}

// recursivePointers is a message as gogo generates it by default: its lists and maps hold pointers.
type recursivePointers struct {
	metav1.ObjectMeta `json:"metadata" protobuf:"bytes,1,opt,name=metadata"`
	List              []*recursivePointers          `json:"list" protobuf:"bytes,3,rep,name=list"`
	Map               map[string]*recursivePointers `json:"map" protobuf:"bytes,4,rep,name=map"`
	level             recursiveMessage
}

func (n *recursivePointers) Unmarshal(data []byte) error { return n.level.Unmarshal(data) }

// TestEstimateFollowsPointersInListsAndMaps: the estimate counts pointees and follows them.
// Otherwise a list of messages that contain themselves could end the process.
func TestEstimateFollowsPointersInListsAndMaps(t *testing.T) {
	limits := (&Client{}).limits()
	limits.Expansion, limits.Memory = 1<<20, 1<<40
	deep, light := budget.New(reflect.TypeFor[*recursivePointers](), limits), budget.New(reflect.TypeFor[*recursivePointers](), (&Client{}).limits())
	for _, number := range []int{3, 4} {
		require.ErrorContains(t, deep.Check(wire.Protobuf, nest(number, 20_000), wire.JSONSize{}), "nested too deep", "field %d", number)
		require.NoError(t, deep.Check(wire.Protobuf, nest(number, 4000), wire.JSONSize{}), "field %d", number)
		require.ErrorContains(t, light.Check(wire.Protobuf, bytes.Repeat(field(number, nil), 10_000), wire.JSONSize{}), "more memory than the budget", "field %d", number)
	}
}

func (n *recursiveMessage) Unmarshal(data []byte) error {
	for len(data) > 0 {
		h, value, rest, err := wire.NextField(data, false)
		if err != nil {
			return err
		}
		data = rest
		var in recursiveMessage
		switch h.Field {
		case 1:
			if err := n.ObjectMeta.Unmarshal(value); err != nil {
				return err
			}
			continue
		case 2, 3:
		case 4:
			value, _, _ = wire.BytesField(value, 2, false)
		default: // skips unknown fields, like generated code
			continue
		}
		if err := in.Unmarshal(value); err != nil {
			return err
		}
		n.levels = max(n.levels, in.levels+1)
	}
	return nil
}

// nest returns an object with this many levels. number is the field that contains the next level.
func nest(number, levels int) []byte {
	// The object is built from its end, because each length depends on the content.
	var reversed []byte
	put := func(b []byte) {
		for i := len(b) - 1; i >= 0; i-- {
			reversed = append(reversed, b[i])
		}
	}
	for range levels {
		if number == 4 { // a map has its values in entries
			put(binary.AppendUvarint([]byte{2<<3 | wire.TypeBytes}, uint64(len(reversed))))
		}
		put(binary.AppendUvarint([]byte{byte(number<<3 | wire.TypeBytes)}, uint64(len(reversed))))
	}
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	return append(field(1, append(field(1, []byte("deep")), field(6, []byte("1"))...)), reversed...)
}

// Without the estimate, 5.6 MB with a million levels would end the process by a stack overflow,
// which recover cannot catch.
func TestG11_TooDeepProtobufIsRefusedByKey(t *testing.T) {
	t.Parallel()
	levels := testsize.Scale(1_000_000, 100_000)
	for _, number := range testsize.Sample([]int{2, 3, 4}, 2) {
		body := listOf(Protobuf, "NestedList", nest(number, levels), nest(number, 4000))
		client := serveBytesWith(t, Protobuf, body, Options{MaxExpansion: 1 << 20, MaxObjectMemory: 1 << 40})
		stream, err := Must(NewResource[*recursiveMessage](client, plainGVR, ResourceOptions{})).List(t.Context(), listwatch.ListOptions{})
		require.NoError(t, err)
		items, skipped, err := drainList(stream)
		require.NoError(t, stream.Close())
		require.Equal(t, io.EOF, err)
		require.Len(t, skipped, 1)
		require.Equal(t, "deep", skipped[0].Key.Name)
		require.ErrorIs(t, skipped[0], ErrTooLarge)
		require.Len(t, items, 1, "an object with the allowed depth must be decoded")
		require.GreaterOrEqual(t, items[0].Object.levels, 1)

		_, err = Must(NewResource[*recursiveMessage](serveBytes(t, Protobuf, enveloped("Nested", nest(number, levels))), plainGVR, ResourceOptions{})).
			Get(t.Context(), types.NamespacedName{Name: "deep"}, metav1.GetOptions{})
		require.ErrorIs(t, err, ErrTooLarge)
		if number == 2 {
			require.ErrorContains(t, skipped[0], "rest.Options.MaxDepth allows 10000 levels")
		}
	}
}

// plainGVR is a custom resource in the core group.
var plainGVR = schema.GroupVersionResource{Version: "v1", Resource: "foos"}

// ownJSON reads its bytes again at each level, like JSONSchemaPropsOrArray.
type ownJSON struct {
	metav1.ObjectMeta `json:"metadata"`
	In                *ownLevel `json:"in"`
}

type ownLevel struct{ In *ownLevel }

func (o *ownLevel) UnmarshalJSON(data []byte) error {
	var in struct {
		In *ownLevel `json:"in"`
	}
	err := json.Unmarshal(data, &in)
	o.In = in.In
	return err
}

func TestG11_TooDeepJSONIsRefusedByKey(t *testing.T) {
	t.Parallel()
	object := func(levels, filler int) []byte {
		return fmt.Appendf(nil, `{"kind":"Foo","apiVersion":"example.com/v1","metadata":{"name":"deep"},"in":%s{"x":"%s"}%s}`,
			strings.Repeat(`{"in":`, levels), strings.Repeat("x", filler), strings.Repeat("}", levels))
	}
	read := func(t *testing.T, opts Options, body []byte) (error, error) {
		client := serveBytesWith(t, JSON, body, opts)
		_, typed := Must(NewJSONResource[*ownJSON](client, foosGVR, ResourceOptions{})).Get(t.Context(), types.NamespacedName{Name: "deep"}, metav1.GetOptions{})
		_, maps := Must(NewJSONResource[*unstructured.Unstructured](client, foosGVR, ResourceOptions{})).Get(t.Context(), types.NamespacedName{Name: "deep"}, metav1.GetOptions{})
		return typed, maps
	}
	typed, maps := read(t, Options{}, object(testsize.Scale(1_000_000, 200_000), 0))
	require.Error(t, typed)
	require.Error(t, maps)
	typed, maps = read(t, Options{MaxDepth: 50}, object(60, 0))
	require.ErrorIs(t, typed, ErrTooLarge)
	require.ErrorIs(t, maps, ErrTooLarge)
	require.ErrorContains(t, maps, "rest.Options.MaxDepth allows 50 levels")
	typed, maps = read(t, Options{MaxDepth: 50}, object(40, 0))
	require.NoError(t, errors.Join(typed, maps))
	// Each level is read once more than the level above: 5000 times 8 MB would take minutes.
	typed, maps = read(t, Options{}, object(5000, testsize.Scale(8<<20, 2<<20)))
	require.ErrorIs(t, typed, ErrTooLarge)
	require.NoError(t, maps)
}

// serveBytesWith is like serveBytes, with options for the client.
func serveBytesWith(t testing.TB, e Encoding, body []byte, opts Options) *Client {
	opts.MaxRetries = -1
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType(e))
		_, _ = w.Write(body)
	}), opts)
}

// Objects of real servers stay far below every limit, in each encoding.
func TestRealObjectsFitTheBudget(t *testing.T) {
	t.Parallel()
	random := randomPods(7, testsize.Scale(200, 15))
	for _, e := range encodings {
		for i := range random {
			requireWithinBudget(t, e, "Pod", &random[i], reflect.TypeFor[*corev1.Pod]())
			pod := plainPod(i)
			requireWithinBudget(t, e, "Pod", &pod, reflect.TypeFor[*corev1.Pod]())
			deployment := &appsv1.Deployment{ObjectMeta: pod.ObjectMeta, Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: pod.Spec}}}
			requireWithinBudget(t, e, "Deployment", deployment, reflect.TypeFor[*appsv1.Deployment]())
		}
		small := smallPods()
		requireWithinBudget(t, e, "Pod", &small[0], reflect.TypeFor[*corev1.Pod]())
	}
}

func requireWithinBudget(t *testing.T, e Encoding, kind string, object any, typ reflect.Type) {
	t.Helper()
	data := encode(t, e, kind, object)
	var scan wire.JSONScan
	if e == JSON {
		scan.End(data)
	} else {
		var err error
		_, _, data, err = wire.Unwrap(data, false)
		require.NoError(t, err)
	}
	limits := (&Client{}).limits()
	// A half leaves some margin. An eighth counts nearly every element, as for large objects.
	for _, part := range []int{1, 2, 8} {
		s := budget.New(typ, budget.Limits{Expansion: limits.Expansion / part, Memory: limits.Memory, Depth: 100})
		require.NoError(t, s.Check(wire.Encoding(e), data, scan.Size), "a limit divided by %d", part)
	}
}

func TestBoundsAreValidated(t *testing.T) {
	t.Parallel()
	for _, opts := range []Options{{MaxExpansion: -1}, {MaxObjectMemory: -1}, {MaxDepth: -1}, {MaxDepth: wire.MaxDepth + 1}} {
		_, err := NewClient(Config{Host: "x"}, opts)
		require.ErrorContains(t, err, "rest: ")
	}
}

// A value that is not an object also takes the memory of an element before the decoder refuses it:
// 8 million zeros would take gigabytes.
func TestG11_ScalarElementsAreEstimated(t *testing.T) {
	for name, opts := range map[string]ResourceOptions{
		"default": {}, "unshared": {Unshared: true},
	} {
		for _, element := range testsize.Sample([]string{"0", `""`, "true", "-1.5e3", "null", "[]"}, 5) {
			t.Run(name+" "+element, func(t *testing.T) {
				bomb := bytes.ReplaceAll(bombPod(JSON, "bomb", testsize.Scale(2_000_000, 400_000)), []byte("{}"), []byte(element))
				r := Must(NewResource[*corev1.Pod](serveBytes(t, JSON, listOf(JSON, "PodList", bomb)), podsGVR, opts))
				took := peakHeap(func() {
					stream, err := r.List(t.Context(), listwatch.ListOptions{})
					require.NoError(t, err)
					_, skipped, err := drainList(stream)
					require.Equal(t, io.EOF, err)
					require.NoError(t, stream.Close())
					require.Len(t, skipped, 1)
					require.ErrorIs(t, skipped[0], ErrTooLarge)
				})
				require.Less(t, took, uint64(256<<20))
			})
		}
	}
}

// A user may decode with encoding/json, which ignores the case in names of fields. So the estimate
// ignores it as well.
func TestG11_EstimateIgnoresFieldNameCase(t *testing.T) {
	for _, spec := range []string{"spec", "SPEC", "\u017fpec", `\u017fPec`} {
		for _, containers := range []string{"containers", "Containers", "conTaINER\u017f"} {
			pod := func(n int) []byte {
				data := bytes.Replace(bombPod(JSON, "bomb", n), []byte("spec"), []byte(spec), 1)
				return bytes.Replace(data, []byte("containers"), []byte(containers), 1)
			}
			client := serveBytes(t, JSON, listOf(JSON, "PodList", pod(3), pod(30_000)))
			stream, err := Must(NewResource[*corev1.Pod](client, podsGVR, ResourceOptions{Encoding: JSON, Decoder: funcDecoder{json: json.Unmarshal}})).List(t.Context(), listwatch.ListOptions{})
			require.NoError(t, err)
			items, skipped, err := drainList(stream)
			require.Equal(t, io.EOF, err)
			require.NoError(t, stream.Close())
			require.Equal(t, 1, len(items))
			require.Len(t, items[0].Object.Spec.Containers, 3, "%s.%s", spec, containers)
			require.Len(t, skipped, 1)
			require.ErrorIs(t, skipped[0], ErrTooLarge, "%s.%s", spec, containers)
		}
	}
	// Two fields whose names differ only in case have separate costs.
	type two struct {
		Small []int8     `json:"a"`
		Large [][64]int8 `json:"A"`
	}
	s := budget.New(reflect.TypeFor[two](), budget.Limits{Expansion: 1, Memory: math.MaxInt64, Depth: wire.MaxDepth})
	data := `{"%s":[0` + strings.Repeat(",0", 10_000) + `]}`
	require.NoError(t, s.Check(wire.JSON, fmt.Appendf(nil, data, "a"), wire.JSONSize{Parts: 1 << 20}))
	require.ErrorIs(t, s.Check(wire.JSON, fmt.Appendf(nil, data, "A"), wire.JSONSize{Parts: 1 << 20}), ErrTooLarge)
}
