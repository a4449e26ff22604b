package e2e_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/reflector"
)

var pods = settings{resource: corev1.SchemeGroupVersion.WithResource("pods"), path: cluster.PodsPath}

// everyWay returns settings for each pair of an encoding and a kind of list.
func everyWay(s settings) []settings {
	var all []settings
	for _, encoding := range encodings {
		for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
			s.encoding, s.mode = encoding, mode
			all = append(all, s)
		}
	}
	return all
}

func TestStoreHoldsTheSeededPods(t *testing.T) {
	want := serversPods(t)
	for _, s := range everyWay(pods) {
		t.Run(s.String(), func(t *testing.T) {
			p := startPipeline[*corev1.Pod](t, s)
			p.waitForSync(t)
			p.requireServerState(t)
			require.GreaterOrEqual(t, p.informer.Store().Len(), seeded)
			require.Equal(t, s.mode, p.informer.Status().Reflector.ListMode, "the server must support the requested kind of list")
			requireContent(t, want, p)
			p.stop(t)
		})
	}
}

// The server reads config maps from etcd for every list, so these lists have pages. A list from the
// watch cache has one page, even if the request has a limit.
func TestListFromStorageComesInPages(t *testing.T) {
	configMapChurn().steps(t, 200)
	for _, encoding := range encodings {
		t.Run(encoding.String(), func(t *testing.T) {
			s := configMaps
			s.encoding, s.mode, s.page = encoding, reflector.List, 10
			p := startPipeline[*corev1.ConfigMap](t, s)
			p.waitForSync(t)
			p.requireServerState(t)
			stored, pages := p.informer.Store().Len(), p.informer.Status().Reflector.Pages
			require.Greater(t, stored, 50)
			require.EqualValues(t, (stored+9)/10, pages)
			p.stop(t)
		})
	}
}

// serversPods decodes the server's pods with encoding/json.
func serversPods(t *testing.T) []corev1.Pod {
	t.Helper()
	body, err := kube.Get(t.Context(), cluster.PodsPath)
	require.NoError(t, err)
	var list corev1.PodList
	require.NoError(t, json.Unmarshal(body, &list))
	return list.Items
}

// requireContent compares every pod field by field.
func requireContent(t *testing.T, want []corev1.Pod, p *pipeline[*corev1.Pod]) {
	t.Helper()
	for i := range want {
		got, ok := p.informer.Store().Get(keyOf(&want[i]))
		require.True(t, ok, want[i].Name)
		require.True(t, equality.Semantic.DeepEqual(&want[i], got), "%v\n%v", &want[i], got)
	}
}
