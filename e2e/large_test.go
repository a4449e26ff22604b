package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

var widgetsResource = schema.GroupVersionResource{Group: cluster.CRDGroup, Version: cluster.CRDVersion, Resource: cluster.CRDResource}

// defineWidgets creates the custom resource for one test. It returns when the server serves the
// resource.
func defineWidgets(t *testing.T) {
	t.Helper()
	succeeds := func(do func() error) {
		t.Helper()
		eventually(t, time.Minute, func() string {
			if err := do(); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	// The server may still have the CustomResourceDefinition of another test.
	succeeds(func() error { return kube.CreateCRD(t.Context()) })
	t.Cleanup(func() { require.NoError(t, kube.DeleteCRD(context.Background())) })
	succeeds(func() error { return kube.Create(t.Context(), cluster.WidgetsPath, cluster.Widget("first", 1)) })
}

// text returns a megabyte that compresses badly and contains characters that JSON escapes.
func text(seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 1))
	characters := []rune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 {}[],:\"\\\n<&>é世🙂")
	out := make([]rune, 0, 900_000)
	for size := 0; size < 1_000_000; {
		c := characters[random.IntN(len(characters))]
		out = append(out, c)
		size += len(string(c))
	}
	return string(out)
}

// etcd accepts only a little more than a megabyte.
func TestCustomResourceOfAMegabyte(t *testing.T) {
	defineWidgets(t)
	large := func(seed uint64) map[string]any {
		return map[string]any{"text": text(seed), "numbers": []any{int64(1) << 62, 0.5, nil}, "seed": int64(seed)}
	}
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		t.Run(mode.String(), func(t *testing.T) {
			client := newClient(t, kube.Config())
			widgets := rest.Must(rest.NewJSONResource[*unstructured.Unstructured](client, widgetsResource, rest.ResourceOptions{}))
			want := map[types.NamespacedName]map[string]any{}
			create := func(i int) {
				w := &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": cluster.CRDGroup + "/" + cluster.CRDVersion, "kind": cluster.CRDKind, "spec": large(uint64(i)),
				}}
				w.SetNamespace(cluster.Namespace)
				w.SetName(fmt.Sprintf("large-%s-%d", map[bool]string{true: "w", false: "l"}[mode == reflector.WatchList], i))
				created, err := widgets.Create(t.Context(), w, metav1.CreateOptions{})
				require.NoError(t, err)
				require.Equal(t, w.Object["spec"], created.Object["spec"])
				want[keyOf(w)] = large(uint64(i))
			}
			for i := range 2 {
				create(i)
			}
			p := startPipeline[*unstructured.Unstructured](t, settings{resource: widgetsResource, path: cluster.WidgetsPath, mode: mode})
			p.waitForSync(t)
			p.requireServerState(t)
			for i := range 2 {
				create(2 + i)
			}
			for key := range want { // Each event has about a megabyte.
				patch, err := json.Marshal(map[string]any{"spec": map[string]any{"text": text(99)}})
				require.NoError(t, err)
				_, err = widgets.Patch(t.Context(), key, types.MergePatchType, patch, metav1.PatchOptions{})
				require.NoError(t, err)
				want[key]["text"] = text(99)
			}
			p.requireServerState(t)
			for key, spec := range want {
				got, ok := p.informer.Store().Get(key)
				require.True(t, ok, key)
				require.Equal(t, spec, got.Object["spec"])
				require.NoError(t, widgets.Delete(t.Context(), key, metav1.DeleteOptions{}))
			}
			require.Empty(t, p.failures())
			p.requireServerState(t)
			client.Close()
			p.stop(t)
		})
	}
}
