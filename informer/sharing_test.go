package informer_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// TestSharingIsTheDefault: equal parts of two pods of an informer, and of two versions of a pod,
// are in memory once, unless the resource is Unshared.
func TestSharingIsTheDefault(t *testing.T) {
	for _, encoding := range []rest.Encoding{rest.Protobuf, rest.JSON} {
		for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
			for _, unshared := range []bool{false, true} {
				t.Run(fmt.Sprint(encoding, " ", mode, " unshared=", unshared), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { sharesParts(t, rest.ResourceOptions{Encoding: encoding, Unshared: unshared}, mode) })
				})
			}
		}
	}
}

func sharesParts(t *testing.T, opts rest.ResourceOptions, mode reflector.ListMode) {
	server, source := newServer(t, opts)
	const n = 4
	for i := range n {
		pod := newPod(key(i))
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
		pod.Spec.NodeSelector = map[string]string{"pod": pod.Name}
		pod.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64)}
		*pod.Spec.SecurityContext.RunAsUser = int64(1_000_000 + i)
		_, err := server.Create(pod)
		require.NoError(t, err)
	}
	inf, err := informer.New(source, informer.Options[*corev1.Pod]{Reflector: reflector.Options{ListMode: mode}})
	require.NoError(t, err)
	stop := start(t, inf)
	require.NoError(t, inf.WaitForSync(t.Context()))
	get := func(i int) *corev1.Pod {
		pod, ok := inf.Store().Get(key(i))
		require.True(t, ok)
		return pod
	}
	first, second := get(n-2), get(n-1)
	require.NotSame(t, first, second)
	require.Equal(t, !opts.Unshared, first.Spec.Affinity == second.Spec.Affinity, "equal parts of two pods are shared unless Unshared is set")

	pod := second.DeepCopy()
	pod.Labels["changed"] = "yes"
	_, err = server.Update(pod)
	require.NoError(t, err)
	require.NoError(t, inf.Store().WaitRV(t.Context(), server.ResourceVersion()))
	third := get(n - 1)
	require.Equal(t, "yes", third.Labels["changed"])
	require.NotContains(t, second.Labels, "changed")
	if opts.Encoding == rest.Protobuf {
		require.Equal(t, !opts.Unshared, second.Spec.SecurityContext == third.Spec.SecurityContext, "equal parts of two versions of a pod are shared unless Unshared is set")
	}
	stop()
}
