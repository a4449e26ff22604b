package mutation_test

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest/sharing"
	"github.com/kinform/kinform/rest/sharing/mutation"
)

// fakeTest is a TB whose errors do not fail the real test.
type fakeTest struct {
	errors   []string
	cleanups []func()
}

func (f *fakeTest) Helper() {}

func (f *fakeTest) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

func (f *fakeTest) Cleanup(clean func()) { f.cleanups = append(f.cleanups, clean) }

func (f *fakeTest) end() []string {
	for _, clean := range f.cleanups {
		clean()
	}
	return f.errors
}

// recorded decodes pods like the pods of a list. It returns the pods, and a detector that has
// recorded them.
func recorded(t *testing.T, decode func(data []byte, object any) error) (*mutation.Detector, []*corev1.Pod) {
	d := mutation.New(&fakeTest{})
	show := mutation.Transform[*corev1.Pod](d)
	var pods []*corev1.Pod
	for pod := range apitest.Pods(3, apitest.PodOptions{Namespaces: 1}) {
		limit := resource.MustParse("1Gi")
		pod.Spec.Volumes[0].EmptyDir = &corev1.EmptyDirVolumeSource{SizeLimit: &limit}
		data, err := pod.Marshal()
		require.NoError(t, err)
		own := &corev1.Pod{}
		require.NoError(t, decode(data, own))
		shown, err := show(own)
		require.NoError(t, err)
		require.Same(t, own, shown)
		pods = append(pods, own)
	}
	require.Empty(t, d.Check())
	return d, pods
}

// first returns a function that decodes an object without an earlier version.
func first(d *sharing.Decoder) func(data []byte, object any) error {
	return func(data []byte, object any) error { return d.DecodeProtobuf(data, object, nil) }
}

func ordinary(data []byte, object any) error { return object.(*corev1.Pod).Unmarshal(data) }

func TestMutationIsReportedWithKeyAndPath(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*corev1.Pod){
		`Name: "pod-000001" became "other"`:                                    func(p *corev1.Pod) { p.Name = "other" },
		`Labels["tier"]: "frontend" became "none"`:                             func(p *corev1.Pod) { p.Labels["tier"] = "none" },
		`Labels["new"]: (nothing) became "x"`:                                  func(p *corev1.Pod) { p.Labels["new"] = "x" },
		`Labels["tier"]: "frontend" became (nothing)`:                          func(p *corev1.Pod) { delete(p.Labels, "tier") },
		`Spec.Containers[1].Env[3].Name: "SETTING_7" became "X"`:               func(p *corev1.Pod) { p.Spec.Containers[1].Env[3].Name = "X" },
		`Spec.Containers[0].LivenessProbe.HTTPGet.Path: "/healthz" became "/"`: func(p *corev1.Pod) { p.Spec.Containers[0].LivenessProbe.HTTPGet.Path = "/" },
		`Spec.Containers[0].LivenessProbe: v1.Probe{`:                          func(p *corev1.Pod) { p.Spec.Containers[0].LivenessProbe = nil },
		`Spec.Containers[0].Resources.Limits["memory"]: 256Mi became 1`:        func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits["memory"] = resource.MustParse("1") },
		`Spec.Volumes[0].VolumeSource.EmptyDir.SizeLimit: 1Gi became 2Gi`:      func(p *corev1.Pod) { p.Spec.Volumes[0].EmptyDir.SizeLimit.Add(resource.MustParse("1Gi")) },
		`Status.StartTime`: func(p *corev1.Pod) { *p.Status.StartTime = metav1.Unix(0, 0) },
		`OwnerReferences[0].Controller: true became false`:                        func(p *corev1.Pod) { *p.OwnerReferences[0].Controller = false },
		`Spec.Tolerations: []v1.Toleration{`:                                      func(p *corev1.Pod) { p.Spec.Tolerations = p.Spec.Tolerations[:1] },
		`ManagedFields[0].Manager: "kube-controller-manager" became "controller"`: func(p *corev1.Pod) { p.ManagedFields[0].Manager = "controller" },
	} {
		for _, decode := range []func([]byte, any) error{ordinary, first(sharing.New(sharing.Options{}))} {
			d, pods := recorded(t, decode)
			change(pods[1])
			found := d.Check()
			require.Len(t, found, 1, want)
			text := found[0].String()
			require.Contains(t, strings.ReplaceAll(text, "VolumeSource.", ""), strings.ReplaceAll(want, "VolumeSource.", ""))
			require.Contains(t, text, "ns-0/pod-00000")
			require.Empty(t, d.Check(), "a mutation must be reported only once")
		}
	}
}

// TestReusedBufferIsReported: the string that refers to the buffer is a field, the value of a map,
// or in an interface.
func TestReusedBufferIsReported(t *testing.T) {
	t.Parallel()
	for _, keep := range []func(string) any{
		func(s string) any { return &corev1.Pod{Spec: corev1.PodSpec{NodeName: s}} },
		func(s string) any { return &metav1.ObjectMeta{Labels: map[string]string{"a": s}} },
		func(s string) any { return map[string]any{"a": []any{s}} },
	} {
		buffer := []byte("text")
		d := mutation.New(&fakeTest{})
		d.Record(keep(unsafe.String(&buffer[0], len(buffer))))
		require.Empty(t, d.Check())
		copy(buffer, "next")
		found := d.Check()
		require.Len(t, found, 1)
		require.Equal(t, [2]string{`"text"`, `"next"`}, [2]string{found[0].Before, found[0].After})
	}
}

func TestSharedMutationNamesAllObjects(t *testing.T) {
	t.Parallel()
	d, pods := recorded(t, first(sharing.New(sharing.Options{})))
	pods[2].Spec.Containers[0].ReadinessProbe.PeriodSeconds = 99
	pods[2].Spec.NodeName = "elsewhere"
	found := d.Check()
	require.Len(t, found, 2)
	field := func(i int, path string) mutation.Field {
		return mutation.Field{Key: types.NamespacedName{Namespace: pods[i].Namespace, Name: pods[i].Name}, Path: path}
	}
	const period = "Spec.Containers[0].ReadinessProbe.PeriodSeconds"
	require.Equal(t, mutation.Mutation{
		Field: field(0, period), Before: "10", After: "99",
		Others: []mutation.Field{field(1, period), field(2, period)},
	}, found[0])
	require.Equal(t, field(2, "Spec.NodeName"), found[1].Field)
	require.Empty(t, found[1].Others)
	require.Contains(t, found[0].String(), "This part is shared, and may have been changed through one of these objects:\n  ns-0/pod-000001 "+period)

	pods[0].Status.StartTime.Time = pods[0].Status.StartTime.Add(1)
	found = d.Check()
	require.Len(t, found, 1, "two fields of the pod share one time, so they must be one mutation")
	require.Equal(t, field(0, "ManagedFields[0].Time"), found[0].Field)
	require.Equal(t, []mutation.Field{field(0, "Status.StartTime")}, found[0].Others)

	*pods[0].OwnerReferences[0].Controller = false
	found = d.Check()
	require.Len(t, found, 1, "many fields share one true, so they must be one mutation")
	require.Contains(t, found[0].Others, field(2, "Status.ContainerStatuses[0].Started"))
	require.Contains(t, found[0].String(), "and 9 more")
}

// TestMutatedTableValueIsReported: a program has changed a value in the table of
// a Decoder, so later objects have the wrong value.
func TestMutatedTableValueIsReported(t *testing.T) {
	t.Parallel()
	d := mutation.New(&fakeTest{})
	shared := sharing.New(sharing.Options{})
	var all []*corev1.Pod
	for pod := range apitest.Pods(2, apitest.PodOptions{}) {
		data, err := pod.Marshal()
		require.NoError(t, err)
		own := &corev1.Pod{}
		require.NoError(t, shared.DecodeProtobuf(data, own, nil))
		d.Record(own)
		own.Spec.Tolerations[0].Key = "changed"
		all = append(all, own)
	}
	found := d.Check()
	require.Len(t, found, 1)
	require.Equal(t, "Spec.Tolerations[0].Key", found[0].Path)
	require.Len(t, found[0].Others, len(all)-1)
}

func TestReadsAreNotReported(t *testing.T) {
	t.Parallel()
	huge := resource.MustParse("123456789012345678901234567890")
	for _, decode := range []func([]byte, any) error{ordinary, first(sharing.New(sharing.Options{}))} {
		d, pods := recorded(t, decode)
		for _, pod := range pods {
			_, err := pod.Marshal()
			require.NoError(t, err)
			_ = pod.String()
			limit := pod.Spec.Volumes[0].EmptyDir.SizeLimit
			_ = limit.String()
			_ = limit.Cmp(huge)
			_ = limit.AsDec()
			_ = pod.Status.StartTime.Local().String()
			own := pod.DeepCopy()
			own.Labels["own"] = "yes"
			own.Spec.Containers[0].LivenessProbe.PeriodSeconds++
			own.Spec.Tolerations = append(own.Spec.Tolerations, corev1.Toleration{})
		}
		require.Empty(t, d.Check())
	}
}

func TestDetectorFailsTheTestAtItsEnd(t *testing.T) {
	t.Parallel()
	test := &fakeTest{}
	d := mutation.New(test)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	d.Record(pod)
	pod.Finalizers = append(pod.Finalizers, "mine")
	errors := test.end()
	require.Len(t, errors, 1)
	require.Equal(t, "default/web was changed after a read; copy an object before a change:\n"+
		`  Finalizers: []string(nil) became []string{"mine"}`, errors[0])
}

func TestRecordAcceptsAnyValue(t *testing.T) {
	t.Parallel()
	d := mutation.New(&fakeTest{})
	custom := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "w"}, "spec": map[string]any{"list": []any{int64(1), "two", nil}},
	}}
	type slim struct{ Tags map[string]*[2]int }
	value := slim{Tags: map[string]*[2]int{"a": {1, 2}}}
	d.Record(custom)
	d.Record(value)
	d.Record(nil)
	d.Record((*corev1.Pod)(nil))
	d.Record(7)
	require.Empty(t, d.Check())
	custom.Object["spec"].(map[string]any)["list"].([]any)[1] = 2
	value.Tags["a"][1] = 3
	var paths []string
	for _, m := range d.Check() {
		paths = append(paths, m.Path+": "+m.Before+" became "+m.After)
	}
	require.Equal(t, []string{`Object["spec"]["list"][1]: "two" became 2`, `Tags["a"][1]: 2 became 3`}, paths)
}
