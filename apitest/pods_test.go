package apitest_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
)

func TestPodsHaveARealisticSize(t *testing.T) {
	t.Parallel()
	var jsonSize, protoSize, n int
	for p := range apitest.Pods(200, apitest.PodOptions{Namespaces: 4}) {
		text, err := json.Marshal(p)
		require.NoError(t, err)
		proto, err := p.Marshal()
		require.NoError(t, err)
		jsonSize += len(text)
		protoSize += len(proto)
		require.Equal(t, []string{"ns-0", "ns-1", "ns-2", "ns-3"}[n%4], p.Namespace)
		require.Len(t, p.Labels, 5)
		require.Len(t, p.Spec.Containers, 2)
		require.Len(t, p.ManagedFields, 2)
		n++
	}
	require.Equal(t, 200, n)
	require.InDelta(t, 5000, jsonSize/n, 750)
	require.InDelta(t, 3000, protoSize/n, 500)
}

func TestPodsDependOnTheSeed(t *testing.T) {
	t.Parallel()
	all := func(seed uint64) (pods []*corev1.Pod) {
		for p := range apitest.Pods(5, apitest.PodOptions{Seed: seed}) {
			pods = append(pods, p)
		}
		return pods
	}
	require.Equal(t, all(1), all(1))
	require.NotEqual(t, all(1), all(2))
	for range apitest.Pods(5, apitest.PodOptions{}) {
		break // an iteration may end early
	}
}

func TestChurnKeepsItsRate(t *testing.T) {
	t.Parallel()
	run := func(opts apitest.ChurnOptions) (list []apitest.Object, took time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			srv := apitest.New(apitest.Options{})
			require.NoError(t, apitest.Populate(srv, apitest.Pods(20, apitest.PodOptions{})))
			begin := time.Now()
			n, err := srv.Churn(t.Context(), opts)
			took = time.Since(begin)
			require.NoError(t, err)
			require.Equal(t, opts.Writes, n)
			list, _, err = srv.List(pods, "")
			require.NoError(t, err)
			srv.Close()
		})
		return list, took
	}
	list, took := run(apitest.ChurnOptions{PerSecond: 50, Writes: 1000, Seed: 7})
	require.InDelta(t, 20*time.Second, took, float64(time.Second))
	require.NotEmpty(t, list)
	again, _ := run(apitest.ChurnOptions{PerSecond: 50, Writes: 1000, Seed: 7})
	require.Equal(t, list, again)

	srv := apitest.New(apitest.Options{})
	_, err := srv.Churn(t.Context(), apitest.ChurnOptions{PerSecond: -1})
	require.Error(t, err)
	require.NoError(t, apitest.Populate(srv, apitest.Pods(1, apitest.PodOptions{})))
	require.Error(t, apitest.Populate(srv, apitest.Pods(1, apitest.PodOptions{})))
}
