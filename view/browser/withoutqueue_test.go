package browser

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/view"
)

// Without a queue, as in "kinform view pods", the journey of a change ends at the handler.
func TestAnObjectsJourneyWithoutAQueue(t *testing.T) {
	server := apitest.Start(t, apitest.Options{})
	require.NoError(t, apitest.Populate(server, apitest.Pods(3, apitest.PodOptions{Namespaces: 1})))
	v, err := view.New(view.Options{})
	require.NoError(t, err)
	client, err := rest.NewClient(rest.Config{Host: server.URL()}, rest.Options{Logger: silent})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	source, err := rest.For[*corev1.Pod](client, rest.ResourceOptions{})
	require.NoError(t, err)
	inf, err := informer.New(source, view.InformerOptions(v, informer.Options[*corev1.Pod]{Name: "pods", Logger: silent}))
	require.NoError(t, err)
	_, err = inf.AddHandler(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{Name: "look"})
	require.NoError(t, err)
	view.Informer(v, inf)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- inf.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	require.NoError(t, inf.WaitForSync(ctx))
	served := httptest.NewServer(v)
	t.Cleanup(served.Close)
	t.Cleanup(v.Close)

	p := (&rig{view: v, url: served.URL + "/"}).open(t, 1200, 900)
	p.until(`document.getElementById("tab-journey")`)
	require.True(t, eval[bool](p, `(document.getElementById("tab-journey").click(), true)`))
	stored, ok := inf.Store().Get(types.NamespacedName{Namespace: "ns-0", Name: "pod-000000"})
	require.True(t, ok)
	pod := stored.DeepCopy()
	pod.Labels = map[string]string{"a": "b"}
	_, err = source.Update(ctx, pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	p.until(`document.querySelectorAll("#small-panel .waterfall tr").length === 5`)
	require.Contains(t, eval[string](p, `document.getElementById("small-panel").textContent`), "handler look was called with Updated")
}
