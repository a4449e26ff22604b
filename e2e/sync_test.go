package e2e_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

var pods = settings{resource: corev1.SchemeGroupVersion.WithResource("pods"), path: cluster.PodsPath}

// everyWay is the same pipeline in both encodings and with both kinds of list.
func everyWay(s settings) []settings {
	var all []settings
	for _, encoding := range []rest.Encoding{rest.JSON, rest.Protobuf} {
		for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
			s.encoding, s.mode = encoding, mode
			all = append(all, s)
		}
	}
	return all
}

func TestStoreHoldsTheSeededPods(t *testing.T) {
	for _, s := range everyWay(pods) {
		t.Run(s.String(), func(t *testing.T) {
			p := startPipeline[*corev1.Pod](t, s)
			p.waitForSync(t)
			p.requireServersState(t)
			require.GreaterOrEqual(t, p.informer.Store().Len(), seeded)
			require.Equal(t, s.mode, p.informer.Status().Reflector.ListMode, "the server can do both")
			requireServersContent(t, p)
			p.stop(t)
		})
	}
}

func TestPagedListFromStorageHoldsTheSeededPods(t *testing.T) {
	s := pods
	s.encoding, s.mode, s.page = rest.Protobuf, reflector.List, 700
	p := startPipeline[*corev1.Pod](t, s)
	p.waitForSync(t)
	p.requireServersState(t)
	p.stop(t)
}

// requireServersContent compares every stored pod, field by field, with what
// encoding/json makes of the server's answer in JSON.
func requireServersContent(t *testing.T, p *pipeline[*corev1.Pod]) {
	t.Helper()
	body, err := kube.Get(t.Context(), cluster.PodsPath)
	require.NoError(t, err)
	var list corev1.PodList
	require.NoError(t, json.Unmarshal(body, &list))
	for i := range list.Items {
		want := &list.Items[i]
		got, ok := p.informer.Store().Get(keyOf(want))
		require.True(t, ok, want.Name)
		got = got.DeepCopy()
		got.TypeMeta = metav1.TypeMeta{} // items of a list carry none, events do
		require.True(t, equality.Semantic.DeepEqual(want, got), "%s:\n%v\n%v", want.Name, want, got)
	}
}
