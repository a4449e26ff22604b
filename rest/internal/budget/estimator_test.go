package budget

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/rest/internal/wire"
)

// defaults are the limits of a client without options.
var defaults = Limits{Expansion: 64, Memory: 256 << 20, Depth: wire.MaxDepth}

// field returns a message field with this number and value.
func field(number int, value []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(number)<<3|wire.TypeBytes)
	return append(binary.AppendUvarint(out, uint64(len(value))), value...)
}

// protobufPod returns a pod with this many empty containers.
func protobufPod(containers int) []byte {
	return append(field(1, field(1, []byte("a"))), field(2, bytes.Repeat(field(2, nil), containers))...)
}

// jsonPod returns a pod with this many empty containers.
func jsonPod(containers int) []byte {
	return fmt.Appendf(nil, `{"metadata":{"name":"a"},"spec":{"containers":[{}%s]}}`, strings.Repeat(",{}", containers-1))
}

// The client refuses no custom resource that an API server accepts, whatever its values, if it is
// decoded into a map.
func TestValidCustomResourcesFitTheBudget(t *testing.T) {
	t.Parallel()
	s := New(reflect.TypeFor[*unstructured.Unstructured](), defaults)
	maps := New(reflect.TypeFor[map[string]any](), defaults)
	for _, part := range []string{`{}`, `[]`, `null`, `0`, `""`, `{"":0}`, `[0]`, `{"a":{"":0}}`, `{"":null}`} {
		list := `{"x":[` + part + strings.Repeat(","+part, (1<<20)/(len(part)+1)) + `]}`
		for _, s := range []*Estimator{s, maps} {
			var scan wire.JSONScan
			scan.End([]byte(list))
			require.NoError(t, s.Check(wire.JSON, []byte(list), scan.Size), part)
		}
	}
	deep := []byte(strings.Repeat(`{"":`, 9_999) + "0" + strings.Repeat("}", 9_999))
	var scan wire.JSONScan
	scan.End(deep)
	require.NoError(t, s.Check(wire.JSON, deep, scan.Size))
	require.NoError(t, maps.Check(wire.JSON, deep, scan.Size))
}

// The estimate is never far below the memory that decoding takes.
func TestEstimateMatchesDecodingMemory(t *testing.T) {
	many := testsize.Scale(50_000, 20_000)
	for name, test := range map[string]struct {
		typ  reflect.Type
		e    wire.Encoding
		data []byte
	}{
		"containers":           {reflect.TypeFor[*corev1.Pod](), wire.Protobuf, protobufPod(many)},
		"containers in JSON":   {reflect.TypeFor[*corev1.Pod](), wire.JSON, jsonPod(many)},
		"null in place of one": {reflect.TypeFor[*corev1.Pod](), wire.JSON, bytes.ReplaceAll(jsonPod(many), []byte("{}"), []byte("null"))},
		"owners":               {reflect.TypeFor[*corev1.Pod](), wire.Protobuf, field(1, bytes.Repeat(field(13, nil), many))},
		"objects in a map":     {reflect.TypeFor[*unstructured.Unstructured](), wire.JSON, []byte(`{"kind":"A","x":[0` + strings.Repeat(`,{"":0}`, many) + `]}`)},
		"maps in a map":        {reflect.TypeFor[*unstructured.Unstructured](), wire.JSON, []byte(`{"kind":"A","x":` + strings.Repeat(`{"":`, 5_000) + "0" + strings.Repeat("}", 5_001))},
		"empty lists in a map": {reflect.TypeFor[*unstructured.Unstructured](), wire.JSON, []byte(`{"kind":"A","x":[0` + strings.Repeat(`,[]`, many) + `]}`)},
		"entries of a map":     {reflect.TypeFor[*unstructured.Unstructured](), wire.JSON, manyKeys(many)},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(test.typ, Limits{Expansion: 1, Memory: math.MaxInt64, Depth: wire.MaxDepth})
			const plenty = 1 << 40
			w := estimate{memoryLeft: plenty, depthLeft: s.limits.Depth}
			var err error
			if test.e == wire.JSON {
				_, err = w.countJSON(s.json(), test.data, 0)
			} else {
				err = w.countProtobuf(s.protobuf(), test.data)
			}
			require.NoError(t, err)
			estimate := plenty - w.memoryLeft
			before := memoryInUse()
			var object any = new(corev1.Pod)
			if test.typ != reflect.TypeFor[*corev1.Pod]() {
				object = new(map[string]any)
			}
			if test.e == wire.JSON {
				err = kjson.UnmarshalCaseSensitivePreserveInts(test.data, object)
			} else {
				err = object.(*corev1.Pod).Unmarshal(test.data)
			}
			after := memoryInUse()
			require.NoError(t, err)
			runtime.KeepAlive(object)
			took := int64(after - before)
			t.Logf("%d bytes, estimate %d, took %d", len(test.data), estimate, took)
			require.LessOrEqual(t, took, 2*estimate+64<<10)
			require.GreaterOrEqual(t, 3*took, estimate, "the estimate must not be more than three times the memory")
		})
	}
}

func manyKeys(n int) []byte {
	out := []byte(`{"kind":"A"`)
	for i := range n {
		out = fmt.Appendf(out, `,"%x":0`, i)
	}
	return append(out, '}')
}

func memoryInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// In large objects, which no server stores, the estimate counts every element.
func TestLargeObjectsAreFullyEstimated(t *testing.T) {
	t.Parallel()
	testsize.SkipIfShort(t, "decodes large objects")
	// Each field takes 56 times its bytes, so only the estimate for large objects counts it.
	large := append(protobufPod(1), field(1, bytes.Repeat(field(17, nil), 4<<20))...)
	s := New(reflect.TypeFor[*corev1.Pod](), defaults)
	require.ErrorIs(t, s.Check(wire.Protobuf, large, wire.JSONSize{}), wire.ErrTooLarge)
	require.NoError(t, s.Check(wire.Protobuf, large[:len(large)-len(large)%2][:0], wire.JSONSize{}))
	list := []byte(`{"kind":"A","x":[0` + strings.Repeat(`,{"":0}`, 1<<20) + `]}`)
	maps := New(reflect.TypeFor[*unstructured.Unstructured](), defaults)
	var scan wire.JSONScan
	scan.End(list)
	require.ErrorIs(t, maps.Check(wire.JSON, list, scan.Size), wire.ErrTooLarge)
}
