package sharing_test

import (
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/rest/internal/everytype"
	"github.com/kinform/kinform/rest/sharing"
)

func TestUpdateSharesEqualParts(t *testing.T) {
	t.Parallel()
	d := sharing.New(sharing.Options{})
	encoded := encodedPods(t, 1200)
	decodePods(t, d, encoded) // so that it looks up only fields that repeat
	// This pod is decoded last. In the meantime, the table may have replaced the labels of an
	// earlier pod by equal ones.
	before := decodePods(t, d, encoded[1100:1101])[0]
	changed := before.DeepCopy()
	changed.ResourceVersion = "changed"
	changed.Status.ContainerStatuses[1].RestartCount++
	changed.Annotations["changed"] = "yes"
	data, err := changed.Marshal()
	require.NoError(t, err)

	after := &corev1.Pod{}
	require.NoError(t, d.DecodeProtobuf(data, after, before))
	require.Equal(t, changed, after)
	require.Same(t, unsafe.SliceData(before.Spec.Containers), unsafe.SliceData(after.Spec.Containers), "versions must share an equal list")
	require.Same(t, unsafe.SliceData(before.Spec.Volumes), unsafe.SliceData(after.Spec.Volumes), "versions must share an equal list")
	require.NotSame(t, unsafe.SliceData(before.Status.ContainerStatuses), unsafe.SliceData(after.Status.ContainerStatuses))
	require.Same(t, unsafe.StringData(before.Name), unsafe.StringData(after.Name), "versions must share the name, which a store keeps as its key")
	require.Same(t, unsafe.StringData(string(before.UID)), unsafe.StringData(string(after.UID)))
	after.Labels["marker"] = ""
	require.Contains(t, before.Labels, "marker", "versions must share an equal map")
	require.NotContains(t, before.Annotations, "changed")
}

// update decodes a later version of an object; see unmarshal.
func update(d *sharing.Decoder, data []byte, object, earlier any) error {
	own := append([]byte{}, data...)
	err := d.DecodeProtobuf(own, object, earlier)
	for i := range own {
		own[i] = 0xff
	}
	return err
}

func updateTypes() []func() everytype.Message {
	return []func() everytype.Message{
		func() everytype.Message { return &corev1.Pod{} },
		func() everytype.Message { return &corev1.ConfigMap{} },
		func() everytype.Message { return &authenticationv1.TokenReview{} },
		func() everytype.Message { return &resourcev1.ResourceSlice{} },
	}
}

// TestUpdateOfEveryBuiltinType: an update has the same result as the type's own method. The earlier
// object equals the new object, differs from it, or is empty.
func TestUpdateOfEveryBuiltinType(t *testing.T) {
	t.Parallel()
	d := sharing.New(sharing.Options{})
	for _, typ := range testsize.Sample(everytype.All(), 5) {
		t.Run(typ.String(), func(t *testing.T) {
			var versions []everytype.Message
			for seed := range int64(4) {
				object := reflect.New(typ).Interface().(everytype.Message)
				if seed > 0 {
					everytype.Filler(seed).Fill(object)
				}
				data, err := object.Marshal()
				require.NoError(t, err)
				version := reflect.New(typ).Interface().(everytype.Message)
				require.NoError(t, version.Unmarshal(data))
				versions = append(versions, version)
			}
			for _, after := range versions {
				data, err := after.Marshal()
				require.NoError(t, err)
				for _, before := range versions {
					want, held := reflect.New(typ).Interface().(everytype.Message), reflect.New(typ).Interface()
					require.NoError(t, want.Unmarshal(data))
					old, err := before.Marshal()
					require.NoError(t, err)
					require.NoError(t, d.DecodeProtobuf(old, held, nil))
					got := reflect.New(typ).Interface()
					require.NoError(t, update(d, data, got, held))
					require.Equal(t, want, got)
					require.Equal(t, before, held)
				}
			}
		})
	}
}

// TestUpdateDetectsEveryDifference changes single fields, including fields of each kind within a
// list.
func TestUpdateDetectsEveryDifference(t *testing.T) {
	t.Parallel()
	original := func() *corev1.Pod {
		pod := &corev1.Pod{}
		require.NoError(t, pod.Unmarshal(encodedPods(t, 1)[0]))
		return pod
	}
	for i, change := range []func(*corev1.Container){
		func(c *corev1.Container) { c.Image = "" },
		func(c *corev1.Container) { c.Image += "0" },
		func(c *corev1.Container) { c.WorkingDir = "/" },
		func(c *corev1.Container) { c.TTY = true },
		func(c *corev1.Container) { c.Command = []string{"a"} },
		func(c *corev1.Container) { c.Ports[0].ContainerPort++ },
		func(c *corev1.Container) { c.Ports = nil },
		func(c *corev1.Container) { c.Ports = append(c.Ports, c.Ports[0]) },
		func(c *corev1.Container) { c.Env[3].Value = "" },
		func(c *corev1.Container) { c.Env[0].ValueFrom = &corev1.EnvVarSource{} },
		func(c *corev1.Container) { c.LivenessProbe.HTTPGet.Path = "/" },
		func(c *corev1.Container) { c.LivenessProbe.HTTPGet.Port.IntVal++ },
		func(c *corev1.Container) { c.LivenessProbe.TerminationGracePeriodSeconds = new(int64) },
		func(c *corev1.Container) { c.LivenessProbe = nil },
		func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{} },
		func(c *corev1.Container) { c.Resources.Limits = nil },
		func(c *corev1.Container) { c.Resources.Limits["cpu"] = resource.MustParse("1") },
		func(c *corev1.Container) { c.Resources.Limits["memory"] = resource.MustParse("1") },
		func(c *corev1.Container) { c.VolumeMounts[0].ReadOnly = false },
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			d := sharing.New(sharing.Options{})
			versions := []*corev1.Pod{original(), original()}
			change(&versions[1].Spec.Containers[1])
			for n := range 2 { // to the changed pod and back
				before, want := versions[n], versions[1-n]
				data, err := before.Marshal()
				require.NoError(t, err)
				held := &corev1.Pod{}
				require.NoError(t, unmarshal(d, data, held))
				data, err = want.Marshal()
				require.NoError(t, err)
				got := &corev1.Pod{}
				require.NoError(t, update(d, data, got, held))
				require.Equal(t, want, got)
			}
		})
	}
}

// TestUpdateSharesUnchangedManagedFields: a later version shares the unchanged texts and times
// of managed fields, even if another entry of the list has changed.
func TestUpdateSharesUnchangedManagedFields(t *testing.T) {
	t.Parallel()
	for pod := range apitest.Pods(3, apitest.PodOptions{}) {
		// The table has no room, so every shared part comes from the earlier version.
		d := sharing.New(sharing.Options{MaxBytes: 1})
		data, err := pod.Marshal()
		require.NoError(t, err)
		held := &corev1.Pod{}
		require.NoError(t, unmarshal(d, data, held))
		apitest.RestartContainer(pod)
		pod.ManagedFields = append(pod.ManagedFields, metav1.ManagedFieldsEntry{Manager: "me", FieldsV1: metav1.NewFieldsV1("{}")})
		data, err = pod.Marshal()
		require.NoError(t, err)
		got, want := &corev1.Pod{}, &corev1.Pod{}
		require.NoError(t, update(d, data, got, held))
		require.NoError(t, want.Unmarshal(data))
		require.Equal(t, want, got)
		require.Same(t, held.ManagedFields[0].Time, got.ManagedFields[0].Time)
		require.Same(t, held.ManagedFields[0].FieldsV1, got.ManagedFields[0].FieldsV1)
		require.Same(t, held.ManagedFields[1].FieldsV1, got.ManagedFields[1].FieldsV1)

		pod.ManagedFields[1].FieldsV1 = metav1.NewFieldsV1(`{"f:status":{}}`)
		data, err = pod.Marshal()
		require.NoError(t, err)
		later := &corev1.Pod{}
		require.NoError(t, update(d, data, later, got))
		want = &corev1.Pod{}
		require.NoError(t, want.Unmarshal(data))
		require.Equal(t, want, later)
	}
}

// TestUpdateDoesNotShareMutableParts: an update does not share quantities with an address, parts
// that were not decoded from bytes, and parts of another type.
func TestUpdateDoesNotShareMutableParts(t *testing.T) {
	t.Parallel()
	d := sharing.New(sharing.Options{})
	limit := resource.MustParse("1Gi")
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit}}}},
		Containers: []corev1.Container{{Env: []corev1.EnvVar{{Name: "e", ValueFrom: &corev1.EnvVarSource{
			ResourceFieldRef: &corev1.ResourceFieldSelector{Divisor: resource.MustParse("1")},
		}}}}},
	}}
	data, err := pod.Marshal()
	require.NoError(t, err)
	before, after := &corev1.Pod{}, &corev1.Pod{}
	require.NoError(t, unmarshal(d, data, before))
	require.NoError(t, update(d, data, after, before))
	require.Equal(t, before, after)
	require.NotSame(t, before.Spec.Volumes[0].EmptyDir, after.Spec.Volumes[0].EmptyDir)
	require.NotSame(t, before.Spec.Containers[0].Env[0].ValueFrom, after.Spec.Containers[0].Env[0].ValueFrom)

	// A field without a protobuf tag is not in the bytes, so the new object must not get its value.
	set := &appsList{Items: []appsItem{{Name: "a"}}}
	data = []byte("\x0a\x03\x0a\x01a")
	held, got := &appsList{Items: []appsItem{{Name: "a", Note: "set by a transformer"}}}, &appsList{}
	require.NoError(t, update(d, data, got, held))
	require.Equal(t, set, got)

	for _, earlier := range []any{nil, (*appsList)(nil), &corev1.Pod{}, appsList{}, 1} {
		got := &appsList{}
		require.NoError(t, update(d, data, got, earlier))
		require.Equal(t, set, got)
	}
}

type appsList struct {
	Items []appsItem `protobuf:"bytes,1,rep,name=items"`
}

type appsItem struct {
	Name string `protobuf:"bytes,1,opt,name=name"`
	Note string
	When metav1.Time `protobuf:"bytes,2,opt,name=when"`
}
