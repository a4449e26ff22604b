package sharing_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/rest/sharing"
)

// measuringPod returns a pod with a Quantity in each kind of place: behind a pointer, in a message
// behind a pointer, in a list, and in maps.
func measuringPod(name string) *corev1.Pod {
	limit := resource.MustParse("1500Mi")
	huge := resource.MustParse("123456789012345678901234567890")
	of := func(resource string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: resource, Divisor: limit}}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			Volumes: []corev1.Volume{
				{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit}}},
			},
			Containers: []corev1.Container{{
				Name:           "main",
				Env:            []corev1.EnvVar{{Name: "LIMIT", ValueFrom: of("limits.memory")}, {Name: "CPU", ValueFrom: of("limits.cpu")}},
				Resources:      corev1.ResourceRequirements{Limits: corev1.ResourceList{"memory": limit, "huge": huge}},
				LivenessProbe:  &corev1.Probe{PeriodSeconds: 10, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}},
				ReadinessProbe: &corev1.Probe{PeriodSeconds: 10, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}},
			}},
			Overhead: corev1.ResourceList{"cpu": limit},
		},
	}
}

func measuringPods(t *testing.T) []*corev1.Pod {
	var encoded [][]byte
	for _, name := range []string{"a", "b", "c"} {
		data, err := measuringPod(name).Marshal()
		require.NoError(t, err)
		encoded = append(encoded, data)
	}
	return decodePods(t, sharing.New(sharing.Options{}), encoded)
}

// TestConcurrentReads: a Quantity caches its text when it is first formatted or encoded, and
// changes its form when it is compared with a large Quantity. If the Quantity of one pod changes in
// this way, the Quantity of another pod must not change.
func TestConcurrentReads(t *testing.T) {
	t.Parallel()
	var group sync.WaitGroup
	start := make(chan struct{})
	for _, pod := range slices.Concat(measuringPods(t), measuringPods(t), measuringPods(t)) {
		group.Go(func() {
			<-start
			_, err := pod.Marshal()
			if err != nil {
				t.Error(err)
			}
			limit := pod.Spec.Volumes[0].EmptyDir.SizeLimit
			_ = limit.String()
			if limit.Cmp(pod.Spec.Containers[0].Resources.Limits["huge"]) >= 0 {
				t.Error("1500Mi must be less than the huge limit")
			}
			divisor := &pod.Spec.Containers[0].Env[0].ValueFrom.ResourceFieldRef.Divisor
			_ = divisor.String()
			_ = divisor.AsDec()
			for _, q := range pod.Spec.Containers[0].Resources.Limits {
				_ = q.String()
				_ = q.AsDec()
			}
			_ = pod.DeepCopy()
			_ = pod.String()
		})
	}
	close(start)
	group.Wait()
}

// TestQuantitiesMutatedByReadsAreNotShared: pods do not share values that their readers may change,
// and no values that contain such values. They share everything else.
func TestQuantitiesMutatedByReadsAreNotShared(t *testing.T) {
	t.Parallel()
	pods := measuringPods(t)
	first, second := &pods[1].Spec, &pods[2].Spec
	require.NotSame(t, first.Volumes[0].EmptyDir, second.Volumes[0].EmptyDir)
	require.NotSame(t, first.Volumes[0].EmptyDir.SizeLimit, second.Volumes[0].EmptyDir.SizeLimit)
	require.NotSame(t, &first.Containers[0].Env[0], &second.Containers[0].Env[0])
	require.NotSame(t, &first.Containers[0].Env[0].ValueFrom.ResourceFieldRef.Divisor, &second.Containers[0].Env[0].ValueFrom.ResourceFieldRef.Divisor)
	require.Same(t, first.Containers[0].LivenessProbe, second.Containers[0].LivenessProbe)

	first.Overhead["marker"] = first.Overhead["cpu"]
	require.Contains(t, second.Overhead, corev1.ResourceName("marker"), "the pods must share maps of quantities, because reading a value of a map copies it")
}

// TestDecoderOutlivesSynctestBubble: tests in different synctest bubbles may use one decoder of the
// process.
func TestDecoderOutlivesSynctestBubble(t *testing.T) {
	var d *sharing.Decoder
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			if d == nil {
				d = sharing.New(sharing.Options{})
			}
			require.NoError(t, d.DecodeJSON([]byte(`{"metadata":{"name":"a"}}`), &corev1.Pod{}))
			require.NoError(t, d.DecodeProtobuf(nil, &corev1.Pod{}, nil))
		})
	}
}
