package sharing_test

import (
	"encoding/json"
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/internal/effort"
	"github.com/kinform/kinform/rest/sharing"
)

// places returns the addresses of all that a program can change in a value: lists, maps and what pointers lead to.
func places(v reflect.Value, into map[unsafe.Pointer]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*metav1.FieldsV1]() {
			into[v.UnsafePointer()] = true
			places(v.Elem(), into)
		}
	case reflect.Interface:
		places(v.Elem(), into)
	case reflect.Struct:
		if v.Type().PkgPath() == "time" || v.Type().Name() == "Time" || v.Type().Name() == "Quantity" {
			return // they have no part that a program can change
		}
		for i := range v.NumField() {
			places(v.Field(i), into)
		}
	case reflect.Slice:
		if v.Len() > 0 {
			into[v.UnsafePointer()] = true
		}
		for i := range v.Len() {
			places(v.Index(i), into)
		}
	case reflect.Map:
		if v.IsNil() {
			return
		}
		into[v.UnsafePointer()] = true
		for _, key := range v.MapKeys() {
			if key.Kind() == reflect.String && key.String() == "fieldsV1" {
				continue
			}
			places(v.MapIndex(key), into)
		}
	}
}

// requireApart requires that no two of the objects share what a program can change.
func requireApart[T any](t *testing.T, objects []T) {
	t.Helper()
	all := map[unsafe.Pointer]bool{}
	for i := range objects {
		own := map[unsafe.Pointer]bool{}
		places(reflect.ValueOf(objects[i]), own)
		for at := range own {
			require.False(t, all[at], "object %d has a part of another one", i)
			all[at] = true
		}
	}
	runtime.KeepAlive(objects)
}

func TestConstantsAreAllThatIsShared(t *testing.T) {
	t.Parallel()
	encoded := encodedPods(t, effort.Of(500, 150))
	d := sharing.New(sharing.Options{Share: sharing.Constants})
	pods := make([]*corev1.Pod, len(encoded))
	texts := make([]*corev1.Pod, len(encoded))
	maps := make([]map[string]any, len(encoded))
	for i, data := range encoded {
		pods[i], texts[i] = &corev1.Pod{}, &corev1.Pod{}
		require.NoError(t, d.DecodeProtobuf(data, pods[i], pods[max(i-1, 0)]))
		var want corev1.Pod
		require.NoError(t, want.Unmarshal(data))
		require.Equal(t, &want, pods[i])
		inJSON, err := json.Marshal(&want)
		require.NoError(t, err)
		require.NoError(t, d.DecodeJSON(inJSON, texts[i]))
		require.NoError(t, d.DecodeJSON(inJSON, &maps[i]))
	}
	requireApart(t, pods)
	requireApart(t, texts)
	requireApart(t, maps)
	images, managed, entries := map[*byte]bool{}, map[*metav1.FieldsV1]bool{}, 0
	for _, pod := range pods {
		images[unsafe.StringData(pod.Spec.Containers[0].Image)] = true
		for _, entry := range pod.ManagedFields {
			managed[entry.FieldsV1] = true
			entries++
		}
	}
	require.Less(t, len(images), len(pods)/4, "strings are shared")
	require.Less(t, len(managed), entries*3/4, "managed fields are shared")
}

// BenchmarkHeapOfWhatIsShared prints what a pod takes of the heap, by what objects share.
func BenchmarkHeapOfWhatIsShared(b *testing.B) {
	for name, opts := range map[string]sharing.Options{"everything": {}, "immutable": {Share: sharing.Immutable}, "constants": {Share: sharing.Constants}, "nothing": {MaxBytes: -1}} {
		b.Run(name, func(b *testing.B) {
			encoded := encodedPods(b, 5000)
			for b.Loop() {
				d := sharing.New(opts)
				pods := make([]*corev1.Pod, len(encoded))
				before := heap()
				for i, data := range encoded {
					pods[i] = &corev1.Pod{}
					if err := d.DecodeProtobuf(data, pods[i], nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(heap()-before)/float64(len(pods)), "heap-B/pod")
				runtime.KeepAlive(pods)
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
