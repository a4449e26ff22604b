package fake_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"k8s.io/client-go/scale/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestResultsComeFromReactors(t *testing.T) {
	client := &fake.FakeScaleClient{}
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	is, err := client.Scales("ns").Get(t.Context(), deployments, "d", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, &autoscalingv1.Scale{}, is)
	client.AddReactor("*", "deployments/scale", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if update, ok := action.(clienttesting.UpdateAction); ok {
			return true, update.GetObject(), nil
		}
		if action.GetNamespace() == "failing" {
			return true, nil, errors.New("failing")
		}
		return true, &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 3}}, nil
	})
	is, err = client.Scales("ns").Patch(t.Context(), deployments.WithVersion("v1"), "d", types.MergePatchType, []byte("{}"), metav1.PatchOptions{FieldManager: "m"})
	require.NoError(t, err)
	require.EqualValues(t, 3, is.Spec.Replicas)
	is, err = client.Scales("ns").Update(t.Context(), deployments, &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 4}}, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 4, is.Spec.Replicas)
	_, err = client.Scales("failing").Get(t.Context(), deployments, "d", metav1.GetOptions{})
	require.EqualError(t, err, "failing")
	actions := client.Actions()
	require.Len(t, actions, 4)
	// Tests compare recorded actions with actions from the constructors, so options must not be
	// recorded.
	require.Equal(t, clienttesting.NewPatchSubresourceAction(deployments.WithVersion("v1"), "ns", "d", types.MergePatchType, []byte("{}"), "scale"), actions[1])
	for _, action := range actions {
		require.Equal(t, "scale", action.GetSubresource())
		require.Equal(t, "deployments", action.GetResource().Resource)
	}
}
