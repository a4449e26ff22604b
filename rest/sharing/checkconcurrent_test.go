//go:build !race

package sharing_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kinform/kinform/rest/sharing"
)

// TestCheckDuringConcurrentMapWrites: a goroutine that writes to the map of a cached object breaks
// the contract. With client-go such a write has no consequence as long as no other goroutine reads
// the map. The runtime ends a process that reads a map while another goroutine writes to it, so
// Check must read maps in another way. This test does not run under the race detector, which
// reports the program's data race.
func TestCheckDuringConcurrentMapWrites(t *testing.T) {
	for _, entries := range []int{1, 40} { // entries in one group, and in a table
		pod := &corev1.Pod{}
		reserved := corev1.ResourceList{}
		for i := range entries {
			reserved[corev1.ResourceName('a'+rune(i))] = resource.MustParse("1")
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{AllocatedResources: reserved}}
		data, err := pod.Marshal()
		require.NoError(t, err)

		var changes atomic.Int64
		d := sharing.New(sharing.Options{Share: sharing.Immutable, MutationDetector: sharing.NewMutationDetector(func(sharing.Mutation) { changes.Add(1) })})
		var got *corev1.Pod
		for range 3 {
			got = &corev1.Pod{}
			require.NoError(t, d.DecodeProtobuf(data, got, nil))
		}
		shared := got.Status.ContainerStatuses[0].AllocatedResources
		one, stop, written := shared["a"], make(chan struct{}), make(chan struct{})
		go func() {
			defer close(written)
			for {
				select {
				case <-stop:
					return
				default:
				}
				for range 1000 {
					shared["a"] = one // the same value, so that Check has no reason to skip the map
				}
			}
		}()
		for range 2000 {
			d.Check(1)
		}
		require.Zero(t, changes.Load())
		close(stop)
		<-written
		shared["a"] = resource.MustParse("2")
		for range 20 {
			d.Check(1000)
		}
		require.EqualValues(t, 1, changes.Load())
	}
}

// TestCheckReportsSelfReferencingMap: a program may put a map into itself. Check reports the
// change and ends.
func TestCheckReportsSelfReferencingMap(t *testing.T) {
	data := []byte(`{"metadata":{"annotations":{"a":"b"}}}`)
	var told []sharing.Mutation
	d := sharing.New(sharing.Options{MutationDetector: sharing.NewMutationDetector(func(c sharing.Mutation) { told = append(told, c) })})
	var got map[string]any
	for range 4 {
		got = nil
		require.NoError(t, d.DecodeJSON(data, &got))
	}
	annotations := got["metadata"].(map[string]any)["annotations"].(map[string]any)
	annotations["a"] = annotations
	for range 200 {
		d.Check(1000)
	}
	require.NotEmpty(t, told)
	for _, change := range told {
		require.Contains(t, change.Before, "a:b")
		require.Contains(t, change.After, "a:map[a:map[")
		require.LessOrEqual(t, len(change.After), 303)
	}
}

// TestChangedStringIsNotShared: once Check has found a change in managed fields, no later object
// gets the changed value.
func TestChangedStringIsNotShared(t *testing.T) {
	data := []byte(`{"metadata":{"managedFields":[{"fieldsV1":{"f:spec":{"f:replicas":{}}}}]}}`)
	d := sharing.New(sharing.Options{Share: sharing.Immutable, MutationDetector: sharing.NewMutationDetector(func(sharing.Mutation) {})})
	fieldsOf := func() map[string]any {
		var got map[string]any
		require.NoError(t, d.DecodeJSON(data, &got))
		return got["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)["fieldsV1"].(map[string]any)
	}
	for range 4 {
		fieldsOf()
	}
	fieldsOf()["mine"] = true
	require.Contains(t, fieldsOf(), "mine", "before Check, two objects must share their managed fields")
	for range 200 {
		d.Check(1000)
	}
	require.NotContains(t, fieldsOf(), "mine")
}
