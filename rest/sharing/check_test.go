package sharing_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/rest/sharing"
)

// TestCheckReportsMutatedManagedFields: typed objects share the pointer to their FieldsV1
// with the policy Immutable. A method can change the value behind the pointer.
func TestCheckReportsMutatedManagedFields(t *testing.T) {
	t.Parallel()
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{
		{Manager: "m", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`)},
	}}}
	inProtobuf, err := pod.Marshal()
	require.NoError(t, err)
	for name, decode := range map[string]func(*sharing.Decoder, *corev1.Pod) error{
		"JSON": func(d *sharing.Decoder, pod *corev1.Pod) error {
			return d.DecodeJSON([]byte(`{"metadata":{"name":"a","managedFields":[{"manager":"m","fieldsV1":{"f:spec":{"f:replicas":{}}}}]}}`), pod)
		},
		"protobuf": func(d *sharing.Decoder, pod *corev1.Pod) error { return d.DecodeProtobuf(inProtobuf, pod, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			var told []sharing.Mutation
			d := sharing.New(sharing.Options{Share: sharing.Immutable, MutationDetector: sharing.NewMutationDetector(func(c sharing.Mutation) { told = append(told, c) })})
			fieldsOf := func() *metav1.FieldsV1 {
				var got corev1.Pod
				require.NoError(t, decode(d, &got))
				return got.ManagedFields[0].FieldsV1
			}
			for range 4 {
				fieldsOf()
			}
			shared := fieldsOf()
			require.Same(t, shared, fieldsOf(), "two pods must share their managed fields")
			shared.SetRawString(`{"mine":{}}`)
			for range 200 {
				d.Check(1000)
			}
			require.Len(t, told, 1)
			require.Contains(t, told[0].Field, "FieldsV1")
			require.NotEqual(t, told[0].Before, told[0].After)
			require.NotContains(t, fieldsOf().GetRawString(), "mine")
		})
	}
}
