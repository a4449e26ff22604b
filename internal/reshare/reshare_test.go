package reshare_test

import (
	"errors"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/internal/reshare"
	"github.com/kinform/kinform/rest/sharing/mutation"
)

func examplePod() *corev1.Pod {
	always, seconds := corev1.ContainerRestartPolicyAlways, int64(30)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"a": "b"}, Finalizers: []string{"f"},
			CreationTimestamp: metav1.Now(), DeletionTimestamp: &metav1.Time{Time: metav1.Now().Time},
			OwnerReferences: []metav1.OwnerReference{{Name: "rs"}},
			ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1(`{"f:a":{}}`)}, {Manager: "n", FieldsV1: metav1.NewFieldsV1(`{"f:b":{}}`)}},
		},
		Spec: corev1.PodSpec{
			NodeSelector: map[string]string{"zone": "a"}, TerminationGracePeriodSeconds: &seconds,
			Containers: []corev1.Container{{
				Name: "c", Env: []corev1.EnvVar{{Name: "A", Value: "1"}}, Args: []string{"x"}, RestartPolicy: &always,
				LivenessProbe: &corev1.Probe{PeriodSeconds: 10, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/"}}},
				Resources:     corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1")}},
			}, {Name: "d", Env: []corev1.EnvVar{{Name: "A", Value: "1"}}}},
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}}},
		},
	}
}

// TestUnchangedPartsAreSharedAgain: if a transform does not change a part of the object, the result
// shares the part with the object. The result does not share a changed part. It equals the object
// that the transform returned.
func TestUnchangedPartsAreSharedAgain(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		change             func(*corev1.Pod)
		labels, env, probe bool // whether the result shares this part with the object
	}{
		"nothing":           {func(*corev1.Pod) {}, true, true, true},
		"managed fields":    {func(p *corev1.Pod) { p.ManagedFields = nil }, true, true, true},
		"a label":           {func(p *corev1.Pod) { p.Labels["x"] = "y" }, false, true, true},
		"no labels":         {func(p *corev1.Pod) { p.Labels = nil }, false, true, true},
		"a label's value":   {func(p *corev1.Pod) { p.Labels["app"] = "" }, false, true, true},
		"another label":     {func(p *corev1.Pod) { p.Labels = map[string]string{"x": "web"} }, false, true, true},
		"a variable":        {func(p *corev1.Pod) { p.Spec.Containers[0].Env[0].Value = "2" }, true, false, true},
		"one more variable": {func(p *corev1.Pod) { p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{}) }, true, false, true},
		"an empty list":     {func(p *corev1.Pod) { p.Spec.Containers[0].Env = []corev1.EnvVar{} }, true, false, true},
		"a probe":           {func(p *corev1.Pod) { p.Spec.Containers[0].LivenessProbe.HTTPGet.Path = "/x" }, true, true, false},
		"a container less":  {func(p *corev1.Pod) { p.Spec.Containers = p.Spec.Containers[:1] }, true, true, true},
		"equal parts":       {func(p *corev1.Pod) { *p = *examplePod(); p.CreationTimestamp = metav1.Time{} }, true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := examplePod()
			want := object.DeepCopy()
			of.change(want)
			want.CreationTimestamp, want.DeletionTimestamp = object.CreationTimestamp, object.DeletionTimestamp
			result, err := reshare.Transform(object, func(given any) (any, error) {
				require.NoError(t, mutation.CheckUnshared(object, given))
				pod := given.(*corev1.Pod)
				of.change(pod)
				pod.CreationTimestamp, pod.DeletionTimestamp = object.CreationTimestamp, object.DeletionTimestamp.DeepCopy()
				return given, nil
			})
			require.NoError(t, err)
			got := result.(*corev1.Pod)
			require.Equal(t, want, got)
			require.NotSame(t, object, got)
			require.Equal(t, of.labels, reflect.ValueOf(object.Labels).Pointer() == reflect.ValueOf(got.Labels).Pointer(), "labels")
			require.Equal(t, of.env, unsafe.SliceData(object.Spec.Containers[0].Env) == unsafe.SliceData(got.Spec.Containers[0].Env), "env")
			require.Equal(t, of.probe, object.Spec.Containers[0].LivenessProbe == got.Spec.Containers[0].LivenessProbe, "probe")
			require.Same(t, object.Spec.Volumes[0].Secret, got.Spec.Volumes[0].Secret)
			require.Same(t, object.Spec.TerminationGracePeriodSeconds, got.Spec.TerminationGracePeriodSeconds)
			require.Equal(t, cap(got.Spec.Volumes), len(got.Spec.Volumes))
		})
	}
}

func unstructuredPod(t *testing.T) *unstructured.Unstructured {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(examplePod())
	require.NoError(t, err)
	return &unstructured.Unstructured{Object: object}
}

func TestUnchangedPartsOfAnUnstructuredObject(t *testing.T) {
	t.Parallel()
	at := func(u *unstructured.Unstructured, path ...string) uintptr {
		value, ok, err := unstructured.NestedFieldNoCopy(u.Object, path...)
		require.NoError(t, err)
		require.True(t, ok)
		return reflect.ValueOf(value).Pointer()
	}
	object := unstructuredPod(t)
	result, err := reshare.Transform(object, func(given any) (any, error) {
		require.NoError(t, mutation.CheckUnshared(object, given))
		u := given.(*unstructured.Unstructured)
		u.SetManagedFields(nil)
		u.SetLabels(map[string]string{"app": "other"})
		containers := u.Object["spec"].(map[string]any)["containers"].([]any)
		containers[1].(map[string]any)["name"] = int64(7)
		containers[1].(map[string]any)["odd"] = []string{"of no JSON"}
		return u, nil
	})
	require.NoError(t, err)
	got := result.(*unstructured.Unstructured)
	require.Equal(t, map[string]string{"app": "other"}, got.GetLabels())
	require.Empty(t, got.GetManagedFields())
	require.Equal(t, at(object, "metadata", "annotations"), at(got, "metadata", "annotations"))
	require.Equal(t, at(object, "spec", "volumes"), at(got, "spec", "volumes"))
	require.NotEqual(t, at(object, "spec", "containers"), at(got, "spec", "containers"))
	containers := func(u *unstructured.Unstructured) []any {
		return u.Object["spec"].(map[string]any)["containers"].([]any)
	}
	require.Equal(t, reflect.ValueOf(containers(object)[0]).Pointer(), reflect.ValueOf(containers(got)[0]).Pointer())
	require.Equal(t, map[string]any{"name": int64(7), "odd": []string{"of no JSON"}, "env": containers(object)[1].(map[string]any)["env"], "resources": map[string]any{}}, containers(got)[1])
	require.Equal(t, "d", containers(object)[1].(map[string]any)["name"])
}

// TestATransformMayKeepWhatItReturns: client-go allows a program to keep and read the object that
// its transform has returned.
func TestATransformMayKeepWhatItReturns(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		object runtime.Object
		change func(any)
	}{
		"typed": {examplePod(), func(object any) {
			pod := object.(*corev1.Pod)
			pod.Labels["x"], pod.Spec.Containers[0].Env[0].Value = "y", "2"
			pod.Spec.Containers[0].LivenessProbe.PeriodSeconds = 7
		}},
		"unstructured": {unstructuredPod(t), func(object any) {
			u := object.(*unstructured.Unstructured)
			u.SetLabels(map[string]string{"x": "y"})
			u.Object["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["name"] = "other"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := of.object.DeepCopyObject()
			var kept, want runtime.Object
			reading := make(chan bool)
			result, err := reshare.Transform(of.object, func(given any) (any, error) {
				of.change(given)
				kept = given.(runtime.Object)
				want = kept.DeepCopyObject()
				go func() { reading <- reflect.DeepEqual(want, given) }()
				return given, nil
			})
			require.NoError(t, err)
			require.True(t, <-reading)
			require.Equal(t, want, kept)
			require.Equal(t, want, result)
			require.Equal(t, before, of.object)
			require.NotSame(t, kept, result)
			require.NoError(t, mutation.CheckUnshared(of.object, kept))
			require.Error(t, mutation.CheckUnshared(of.object, result))
		})
	}
}

// TestTheResultOfATransformIsNotModified: a transform may return an object that it has made itself.
// The package does not change this object, because other code may use it.
func TestTheResultOfATransformIsNotModified(t *testing.T) {
	t.Parallel()
	object := examplePod()
	labels := map[string]string{"app": "web"} // These labels equal the object's labels.
	made := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: labels}}
	for _, result := range []any{made, nil, (*corev1.Pod)(nil), "text", 7, []int{1}, map[string]int{}, func() {}, &metav1.PartialObjectMetadata{}} {
		got, err := reshare.Transform(object, func(any) (any, error) { return result, nil })
		require.NoError(t, err)
		if reflect.ValueOf(result).Kind() != reflect.Func {
			require.Equal(t, result, got)
		}
	}
	require.Equal(t, reflect.ValueOf(labels).Pointer(), reflect.ValueOf(made.Labels).Pointer())
	wrong := errors.New("wrong")
	_, err := reshare.Transform(object, func(given any) (any, error) { given.(*corev1.Pod).Labels = nil; return given, wrong })
	require.Equal(t, wrong, err)
	got, err := reshare.Transform((*corev1.Pod)(nil), func(given any) (any, error) { return given, nil })
	require.NoError(t, err)
	require.Equal(t, (*corev1.Pod)(nil), got)
	require.Equal(t, examplePod().Labels, object.Labels)
}

// TestDeepObjectsAreSharedOnlyAtTheirTop: each level that reshare compares part by part costs a
// comparison of everything below it. For all 9,000 levels, this took six seconds.
func TestDeepObjectsAreSharedOnlyAtTheirTop(t *testing.T) {
	t.Parallel()
	const levels = 9000
	leaf := func(object any) map[string]any {
		m := object.(*unstructured.Unstructured).Object
		for range levels {
			m = m["n"].(map[string]any)
		}
		return m
	}
	content := map[string]any{"leaf": "a"}
	for i := range levels {
		content = map[string]any{"n": content, "x": int64(i), "side": []any{int64(i)}}
	}
	object := &unstructured.Unstructured{Object: content}
	var changed map[string]any
	result, err := reshare.Transform(object, func(given any) (any, error) {
		changed = leaf(given)
		changed["leaf"] = "b"
		return given, nil
	})
	require.NoError(t, err)
	got := result.(*unstructured.Unstructured)
	require.Equal(t, "b", leaf(got)["leaf"])
	require.Equal(t, "a", leaf(object)["leaf"])
	require.Same(t, &object.Object["side"].([]any)[0], &got.Object["side"].([]any)[0], "the upper levels must be shared with the object")
	require.Equal(t, reflect.ValueOf(changed).Pointer(), reflect.ValueOf(leaf(got)).Pointer(), "the lower levels must come from the copy")
}

type own struct{ corev1.Pod }

func TestCopies(t *testing.T) {
	t.Parallel()
	for object, copies := range map[any]bool{
		&corev1.Pod{}: true, &appsv1.Deployment{}: true, &unstructured.Unstructured{}: true, &metav1.PartialObjectMetadata{}: true,
		&own{}: false, new(int): false, 7: false, &corev1.PodSpec{}: false,
	} {
		require.Equal(t, copies, reshare.Copies(reflect.TypeOf(object)), "%T", object)
	}
}
