package apitest_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
)

func TestRunningAPodDoesNotChangeItsGeneration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c := startMemory(t, apitest.Options{RunPods: true})
		c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}}`)
		synctest.Wait()
		pod := get[corev1.Pod](t, c, podsPath+"/p")
		require.Equal(t, corev1.PodRunning, pod.Status.Phase)
		require.EqualValues(t, 1, pod.Generation, "the pod runner must not change the generation")
	})
}

func TestUnschedulablePodWaitsForANode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, c := startMemory(t, apitest.Options{RunPods: true})
		nodeOf := func() string {
			synctest.Wait()
			return get[corev1.Pod](t, c, podsPath+"/p").Spec.NodeName
		}
		create(t, srv, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "small"}})
		c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"name":"p"},"spec":{"nodeSelector":{"size":"large"},"containers":[{"name":"c"}]}}`)
		require.Empty(t, nodeOf())
		create(t, srv, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "large"}, Spec: corev1.NodeSpec{Unschedulable: true}})
		require.Empty(t, nodeOf())
		c.do(t, http.StatusOK, "PATCH", "/api/v1/nodes/large", `{"metadata":{"labels":{"size":"large"}},"spec":{"unschedulable":null}}`, "Content-Type", mergePatch)
		require.Equal(t, "large", nodeOf())
	})
}
