package internal_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
)

// pod returns a pod. Manager one owns a container and a volume of the pod, and manager two owns a
// label.
func pod(fields string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "a", Namespace: "default", Labels: map[string]string{"mine": "1", "theirs": "2"}, Finalizers: []string{"x/mine", "x/theirs"},
			ManagedFields: []metav1.ManagedFieldsEntry{
				{Manager: "one", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)},
				{Manager: "two", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)},
				{Manager: "one", Operation: metav1.ManagedFieldsOperationApply, Subresource: "status", APIVersion: "v1", FieldsType: "FieldsV1",
					FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:phase":{}}}`)},
			},
		},
		Spec: corev1.PodSpec{
			NodeName: "n",
			Containers: []corev1.Container{
				{Name: "main", Image: "web", Ports: []corev1.ContainerPort{{ContainerPort: 80, Protocol: "TCP", Name: "http"}, {ContainerPort: 81, Protocol: "TCP"}},
					Resources: corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "c"}}}},
				{Name: "injected", Image: "proxy", Command: []string{"run", "it"}},
			},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Message: "theirs"},
	}
}

const fieldsOfManagerOne = `{"f:metadata":{"f:labels":{"f:mine":{}},"f:finalizers":{".":{},"v:\"x/mine\"":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":
	{".":{},"f:name":{},"f:image":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{}}}}}}}`

func TestOnlyTheManagersFieldsAreExtracted(t *testing.T) {
	got, err := applycorev1.ExtractPod(pod(fieldsOfManagerOne), "one")
	require.NoError(t, err)
	text, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default","labels":{"mine":"1"},"finalizers":["x/mine"]},
		"spec":{"containers":[{"name":"main","image":"web","ports":[{"name":"http","containerPort":80}]}]}}`, string(text))

	status, err := applycorev1.ExtractPodStatus(pod(fieldsOfManagerOne), "one")
	require.NoError(t, err)
	require.Equal(t, corev1.PodRunning, *status.Status.Phase)
	require.Nil(t, status.Status.Message)
	require.Nil(t, status.Spec)
}

// TestExtractOfAnEmptyMapOmitsFieldsOfOtherManagers: a manager may apply an empty map, an empty
// structure, or only the key of an item. Then the manager owns this path, but not the fields that
// other managers have set below the path. A field that is replaced as a whole is extracted as a
// whole.
func TestExtractOfAnEmptyMapOmitsFieldsOfOtherManagers(t *testing.T) {
	got, err := applycorev1.ExtractPod(pod(`{"f:metadata":{"f:labels":{}},"f:spec":{"f:nodeName":{},"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:name":{},"f:resources":{}},
		"k:{\"name\":\"injected\"}":{".":{},"f:name":{},"f:command":{}}}}}`), "one")
	require.NoError(t, err)
	text, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default"},
		"spec":{"nodeName":"n","containers":[{"name":"main"},{"name":"injected","command":["run","it"]}]}}`, string(text))
}

// TestExtractFindsADuplicateListItem: a server accepts a list that has the same environment
// variable twice.
func TestExtractFindsADuplicateListItem(t *testing.T) {
	twice := pod(`{"f:spec":{"f:nodeName":{}}}`)
	twice.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "a", Value: "1"}, {Name: "a", Value: "2"}}
	got, err := applycorev1.ExtractPod(twice, "one")
	require.NoError(t, err)
	require.Equal(t, "n", *got.Spec.NodeName)
}

func TestExtractForAManagerWithoutFieldsHasNameAndKind(t *testing.T) {
	for _, manager := range []string{"two", "nobody"} {
		got, err := applycorev1.ExtractPod(pod(fieldsOfManagerOne), manager)
		require.NoError(t, err)
		require.Equal(t, applycorev1.Pod("a", "default"), got)
	}
	_, err := applycorev1.ExtractPod(pod(`{"f:`), "one")
	require.ErrorContains(t, err, "managed fields of one")
}

func TestSettersChainAndAdd(t *testing.T) {
	got := applycorev1.Pod("a", "default").WithLabels(map[string]string{"a": "1"}).WithLabels(map[string]string{"b": "2"}).
		WithSpec(applycorev1.PodSpec().WithContainers(applycorev1.Container().WithName("x")).WithContainers(applycorev1.Container().WithName("y")).
			WithVolumes(applycorev1.Volume().WithName("v").WithEmptyDir(applycorev1.EmptyDirVolumeSource())))
	text, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default","labels":{"a":"1","b":"2"}},
		"spec":{"containers":[{"name":"x"},{"name":"y"}],"volumes":[{"name":"v","emptyDir":{}}]}}`, string(text))
	require.PanicsWithValue(t, "nil value passed to WithContainers", func() { applycorev1.PodSpec().WithContainers(nil) })
	require.Equal(t, "a", *got.GetName())
	require.Equal(t, "default", *got.GetNamespace())
	require.Equal(t, "Pod", *got.GetKind())
	require.Nil(t, applycorev1.PodTemplateSpec().GetName())
}
