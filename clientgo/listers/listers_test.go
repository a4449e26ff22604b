package listers_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	listerappsv1 "k8s.io/client-go/listers/apps/v1"
	listercorev1 "k8s.io/client-go/listers/core/v1"
	listerpolicyv1 "k8s.io/client-go/listers/policy/v1"
	"k8s.io/client-go/tools/cache"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func store(t *testing.T, objects ...runtime.Object) cache.Indexer {
	s := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, object := range objects {
		require.NoError(t, s.Add(object))
	}
	return s
}

func meta(namespace, name, app string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": app}}
}

func TestListersSelect(t *testing.T) {
	pods := listercorev1.NewPodLister(store(t,
		&corev1.Pod{ObjectMeta: meta("a", "1", "x")}, &corev1.Pod{ObjectMeta: meta("a", "2", "y")}, &corev1.Pod{ObjectMeta: meta("b", "1", "x")}))
	all, err := pods.List(labels.Everything())
	require.NoError(t, err)
	require.Len(t, all, 3)
	some, err := pods.Pods("a").List(labels.SelectorFromSet(labels.Set{"app": "x"}))
	require.NoError(t, err)
	require.Len(t, some, 1)
	pod, err := pods.Pods("b").Get("1")
	require.NoError(t, err)
	require.Equal(t, "b", pod.Namespace)
	_, err = pods.Pods("b").Get("2")
	require.True(t, apierrors.IsNotFound(err))
	require.ErrorContains(t, err, `pod "2" not found`)
	node, err := listercorev1.NewNodeLister(store(t, &corev1.Node{ObjectMeta: meta("", "n", "x")})).Get("n")
	require.NoError(t, err)
	require.Equal(t, "n", node.Name)
}

func TestOwnersOfAPod(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
	sets := listerappsv1.NewReplicaSetLister(store(t,
		&appsv1.ReplicaSet{ObjectMeta: meta("a", "yes", ""), Spec: appsv1.ReplicaSetSpec{Selector: selector}},
		&appsv1.ReplicaSet{ObjectMeta: meta("a", "empty", ""), Spec: appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{}}},
		&appsv1.ReplicaSet{ObjectMeta: meta("b", "elsewhere", ""), Spec: appsv1.ReplicaSetSpec{Selector: selector}}))
	pod := &corev1.Pod{ObjectMeta: meta("a", "p", "x")}
	found, err := sets.GetPodReplicaSets(pod)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "yes", found[0].Name)
	_, err = sets.GetPodReplicaSets(&corev1.Pod{ObjectMeta: meta("a", "p", "z")})
	require.ErrorContains(t, err, "a/p")
	_, err = sets.GetPodReplicaSets(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}})
	require.ErrorContains(t, err, "no labels")

	budgets := listerpolicyv1.NewPodDisruptionBudgetLister(store(t,
		&policyv1.PodDisruptionBudget{ObjectMeta: meta("a", "all", ""), Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}}}))
	all, err := budgets.GetPodPodDisruptionBudgets(pod)
	require.NoError(t, err)
	require.Len(t, all, 1, "an empty selector of a budget selects all pods")
}
