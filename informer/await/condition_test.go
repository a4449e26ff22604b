package await_test

import (
	"context"
	"testing"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer/await"
	"github.com/kinform/kinform/listwatch"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// check reports whether a condition holds for an object, or for no object. If not, it also returns
// the text of the error.
func check[T any](t *testing.T, condition await.Condition[T], objects ...T) (bool, string) {
	s, err := indexer.New(indexer.Options[T]{})
	require.NoError(t, err)
	for _, object := range objects {
		_, err = s.Apply([]indexer.Op[T]{{Key: web, Object: object, ResourceVersion: "10"}}, "10")
		require.NoError(t, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = await.Until(over, s.Reader, web, condition); err != nil {
		return false, err.Error()
	}
	return true, ""
}

func requireHolds[T any](t *testing.T, want bool, condition await.Condition[T], objects ...T) {
	t.Helper()
	holds, text := check(t, condition, objects...)
	require.Equal(t, want, holds, "%v: %s", condition, text)
}

func TestConditionsCompose(t *testing.T) {
	t.Parallel()
	yes := await.New("yes", func(await.State[int]) bool { return true })
	no := await.New("no", func(await.State[int]) bool { return false })
	for _, test := range []struct {
		condition await.Condition[int]
		want      bool
		name      string
	}{
		{await.And(yes, yes), true, "yes and yes"},
		{await.And(yes, no), false, "yes and no"},
		{await.And[int](), true, ""},
		{await.Or(no, yes), true, "no or yes"},
		{await.Or(no, no), false, "no or no"},
		{await.Or[int](), false, ""},
		{await.Not(no), true, "not (no)"},
		{await.Not(await.Or(yes, no)), false, "not (yes or no)"},
		{await.And(await.Or(no, yes), yes), true, "(no or yes) and yes"},
	} {
		requireHolds(t, test.want, test.condition, 1)
		require.Equal(t, test.name, test.condition.String())
	}
	require.Panics(t, func() { await.New[int]("nothing", nil) })
}

func TestStatusConditionOfAnyType(t *testing.T) {
	t.Parallel()
	widget := func(status string, observed int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"generation": int64(3)},
			"status": map[string]any{
				"observedGeneration": observed,
				"conditions":         []any{map[string]any{"type": "Ready", "status": status, "observedGeneration": observed}},
			},
		}}
	}
	ready := await.StatusCondition[*unstructured.Unstructured]("Ready")
	requireHolds(t, true, ready, widget("True", 3))
	requireHolds(t, false, ready, widget("False", 3))
	requireHolds(t, true, await.StatusConditionIs[*unstructured.Unstructured]("Ready", "False"), widget("False", 3))
	_, text := check(t, ready, widget("True", 2))
	require.Contains(t, text, "Ready was set for an older generation")
	_, text = check(t, await.StatusCondition[*unstructured.Unstructured]("Paid"), widget("True", 3))
	require.Contains(t, text, "Paid is missing")
	requireHolds(t, false, ready)
	requireHolds(t, false, ready, (*unstructured.Unstructured)(nil))
	observed := await.GenerationObserved[*unstructured.Unstructured]()
	requireHolds(t, true, observed, widget("True", 3))
	_, text = check(t, observed, widget("True", 2))
	require.Contains(t, text, "generation 2 is observed, the object has 3")
	requireHolds(t, false, observed, &unstructured.Unstructured{Object: map[string]any{"status": "odd"}})

	type custom struct {
		metav1.ObjectMeta
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		}
	}
	c := &custom{}
	requireHolds(t, false, await.StatusCondition[*custom]("Ready"), c)
	c.Status.Conditions = []metav1.Condition{{Type: "Other", Status: "True"}, {Type: "Ready", Status: "True"}}
	requireHolds(t, true, await.StatusCondition[*custom]("Ready"), c)
	requireHolds(t, false, await.StatusCondition[string]("Ready"), "nothing of the kind")
	requireHolds(t, false, await.GenerationObserved[*custom](), c)
}

func TestConditionsForBuiltInTypes(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{}
	requireHolds(t, false, await.PodReady[*corev1.Pod](), pod)
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	requireHolds(t, true, await.PodReady[*corev1.Pod](), pod)
	now := metav1.Now()
	pod = pod.DeepCopy()
	pod.DeletionTimestamp = &now
	requireHolds(t, false, await.PodReady[*corev1.Pod](), pod)
	requireHolds(t, true, await.Deleting[*corev1.Pod](), pod)

	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	deployment.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}}
	deployment.Status.ObservedGeneration = 1
	requireHolds(t, false, await.DeploymentAvailable[*appsv1.Deployment](), deployment)
	deployment.Status.ObservedGeneration = 2
	requireHolds(t, true, await.DeploymentAvailable[*appsv1.Deployment](), deployment)

	requireHolds(t, true, await.AtLeast[*corev1.Pod]("9"), pod)
	requireHolds(t, true, await.AtLeast[*corev1.Pod]("10"), pod)
	requireHolds(t, false, await.AtLeast[*corev1.Pod]("11"), pod)
	requireHolds(t, false, await.AtLeast[*corev1.Pod]("9"))
}

func TestConditionsAboutOneObject(t *testing.T) {
	t.Parallel()
	slim, err := indexer.New(indexer.Options[string]{}) // The objects themselves have no UID.
	require.NoError(t, err)
	_, err = slim.Apply([]indexer.Op[string]{{Key: web, Object: "x", ResourceVersion: "10", UIDHash: listwatch.HashUID("second")}}, "10")
	require.NoError(t, err)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for uid, is := range map[types.UID]bool{"first": false, "second": true} {
		_, err := await.Until(over, slim.Reader, web, await.Object[string](uid))
		require.Equal(t, is, err == nil, "%v", err)
		if err != nil {
			require.Contains(t, err.Error(), "the object has uid first (version 10, another object has the name")
		}
		_, err = await.Until(over, slim.Reader, web, await.Deleted[string](uid))
		require.Equal(t, !is, err == nil, "%v", err)

		// The same holds in a store whose entries have no UIDs.
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "second"}}
		requireHolds(t, is, await.Object[*corev1.Pod](uid), pod)
		requireHolds(t, !is, await.Deleted[*corev1.Pod](uid), pod)
	}
	requireHolds(t, false, await.Object[*corev1.Pod]("second"))
}
