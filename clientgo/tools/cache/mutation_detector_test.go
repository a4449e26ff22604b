package cache

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
)

func TestADetectorChecksAnObjectForSomeMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, minutes := range []int{0, 1, 2, 5} {
			d := newMutationDetector("pods")
			report := ""
			d.fail = func(message string) { report = message }
			found := func() string {
				d.muCompare.Lock()
				defer d.muCompare.Unlock()
				return report
			}
			old := &v1.Pod{}
			d.AddObject(old)
			d.AddObject("no object")
			stop := make(chan struct{})
			var running sync.WaitGroup
			running.Go(func() { d.Run(stop) })
			time.Sleep(time.Duration(minutes) * time.Minute)
			d.AddObject(&v1.Pod{})
			require.Empty(t, found())
			d.muCompare.Lock()
			old.Name = "changed"
			d.muCompare.Unlock()
			time.Sleep(3 * time.Second)
			require.Equal(t, minutes < 5, found() == "cache pods modified", "after %d minutes", minutes)
			close(stop)
			running.Wait()
		}
	})
}

func TestTheReportNamesTheChangedFields(t *testing.T) {
	number, other := int32(1), int32(2)
	before := &v1.Pod{Spec: v1.PodSpec{NodeName: "n", Containers: []v1.Container{{Name: "a"}}, Priority: &number}}
	after := before.DeepCopy()
	after.Annotations = map[string]string{}
	after.Spec.Containers[0].Name = "b"
	after.Spec.Priority = &other
	after.Spec.NodeSelector = map[string]string{"k": "v"}
	after.Spec.Overhead = nil
	after.Spec.Tolerations = []v1.Toleration{{}}
	require.Equal(t, `.Annotations: was map[string]string(nil), is map[string]string{}
.Spec.Containers[0].Name: was "a", is "b"
.Spec.NodeSelector: was map[string]string(nil), is map[string]string{"k":"v"}
.Spec.Tolerations: was []v1.Toleration(nil), is []v1.Toleration{v1.Toleration{Key:"", Operator:"", Value:"", Effect:"", TolerationSeconds:(*int64)(nil)}}
.Spec.Priority: was 1, is 2`, changedFields(before, after))
	require.Equal(t, `[b]: was absent, is 1`, changedFields(map[string]int{"a": 1}, map[string]int{"a": 1, "b": 1}))
}

// If the detector is off, Run returns at once, so that its caller does not wait.
func TestADisabledDetectorReturnsAtOnce(t *testing.T) {
	require.False(t, mutationDetection)
	d := NewCacheMutationDetector("pods")
	d.AddObject("anything")
	d.Run(nil)
}
