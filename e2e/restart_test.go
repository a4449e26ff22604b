package e2e_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/warmstart"
	"github.com/kinform/kinform/rest"
)

// runInformerProcess does what one process of a program would do. Its informer begins with the
// file, catches up with the server, saves its state and ends. runInformerProcess returns the events
// of the handler.
func runInformerProcess(t *testing.T, path string) (events []string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client := newClient(t, kube.Config())
	maps := rest.Must(rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{Namespace: cluster.Namespace}))
	file, err := warmstart.New(path, warmstart.Protobuf[corev1.ConfigMap](), warmstart.Options{OnError: func(err error) { t.Log("a cold start:", err) }})
	require.NoError(t, err)
	inf, err := informer.New(maps, informer.Options[*corev1.ConfigMap]{Preload: file.Preload})
	require.NoError(t, err)
	marker := fmt.Sprintf("marker-%d", time.Now().UnixNano())
	marked := make(chan struct{})
	var mu sync.Mutex // guards following
	_, err = inf.AddHandler(func(e informer.Event[*corev1.ConfigMap]) {
		if e.Key.Name == marker {
			close(marked)
		}
		if e.New.Labels["of"] == "restart" {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, fmt.Sprintf("%v %v %v", e.Type, e.Key.Name, e.Cause))
		}
	}, informer.HandlerOptions{})
	require.NoError(t, err)
	ended := make(chan error, 1)
	running, stop := context.WithCancel(ctx)
	go func() { ended <- inf.Run(running) }()
	require.NoError(t, inf.WaitForSync(ctx))
	last, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: inTheNamespace(marker)}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, inf.Store().WaitRV(ctx, last.ResourceVersion))
	select {
	// The informer calls handlers after the store has changed. If Run ends first, handlers miss
	// the waiting events.
	case <-marked:
	case <-ctx.Done():
		require.NoError(t, context.Cause(ctx))
	}
	stop()
	require.NoError(t, <-ended)
	require.NoError(t, file.Save())
	require.NoError(t, maps.Delete(t.Context(), keyOf(last), metav1.DeleteOptions{}))
	slices.Sort(events)
	return events
}

func TestARestartContinuesFromTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "configmaps")
	maps := rest.Must(rest.For[*corev1.ConfigMap](newClient(t, kube.Config()), rest.ResourceOptions{}))
	create := func(name string) {
		object := &corev1.ConfigMap{ObjectMeta: inTheNamespace(name)}
		object.Labels = map[string]string{"of": "restart"}
		_, err := maps.Create(t.Context(), object, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	remove := func(name string) {
		key := types.NamespacedName{Namespace: cluster.Namespace, Name: name}
		require.NoError(t, maps.Delete(t.Context(), key, metav1.DeleteOptions{}))
	}
	create("same")
	create("gone")
	defer remove("same")
	require.Equal(t, []string{"Added gone initial", "Added same initial"}, runInformerProcess(t, path))

	remove("gone")
	create("new")
	defer remove("new")
	require.Equal(t, []string{"Added gone initial", "Added new watch", "Added same initial", "Deleted gone watch"}, runInformerProcess(t, path), "the watch must continue from the saved version")

	create("newer")
	defer remove("newer")
	_, err := kube.Compact(t.Context())
	require.NoError(t, err)
	events := runInformerProcess(t, path)
	require.Subset(t, events, []string{"Added new initial", "Added same initial"})
	require.Len(t, events, 3)
	require.Contains(t, events[1], "Added newer", "the new object must come by a watch, if the server's cache still has the event, or else by a list")
}
