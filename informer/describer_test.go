package informer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// describedSource is a source that describes itself.
type describedSource struct {
	listwatch.Source[*corev1.Pod]
	description map[string]string
	fails       error
	calls       *atomic.Int32
}

func (d describedSource) Describe(context.Context) (map[string]string, error) {
	if d.calls != nil {
		d.calls.Add(1)
	}
	return d.description, d.fails
}

// Objects are loaded only after the source has described itself and the server has permitted
// reading the resource.
func TestPreloadFromLoadsAfterTheServerIsDescribed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, q := stoppedRig(t)
		r.changeWhileStopped()
		saved := r.informer.Store().Snapshot()
		defer saved.Release()
		refused := r.server.Inject(apitest.Fault{Resource: "namespaces", Action: apitest.Code(401, 0)})
		forbidden := r.server.Inject(apitest.Fault{Resource: "pods", Action: apitest.Code(403, 0)})
		client, err := rest.NewClient(rest.Config{Host: r.server.URL(), DialContext: r.server.DialContext}, rest.Options{})
		require.NoError(t, err)
		defer client.Close()
		inf, err := informer.New(rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{LabelSelector: "app"})), informer.Options[*corev1.Pod]{})
		require.NoError(t, err)
		var about []map[string]string
		require.NoError(t, informer.PreloadFrom(inf, func(description map[string]string) ([]indexer.Entry[*corev1.Pod], string, error) {
			about = append(about, description)
			return slices.Collect(saved.Entries()), saved.ResourceVersion(), nil
		}))
		require.Error(t, informer.PreloadFrom(inf, nil), "twice")
		next := &rig{t: t, server: r.server, informer: inf, random: r.random}
		received := &receivedEvents{}
		next.add(received.handle, informer.HandlerOptions{})
		next.run()
		time.Sleep(2 * time.Minute)
		refused.Remove()
		time.Sleep(10 * time.Minute)
		require.Empty(t, about)
		require.Empty(t, received.take())
		forbidden.Remove()
		q.take()
		require.NoError(t, inf.WaitForSync(t.Context()))
		require.Len(t, about, 1)
		require.Equal(t, "/v1/pods", about[0]["resource"])
		require.Equal(t, "app", about[0]["labelSelector"])
		require.Equal(t, r.server.URL(), about[0]["server"])
		require.Subset(t, received.take(), preloaded)
		require.NoError(t, next.stop())
	})
}

// A source without a description is preloaded too, and the loader gets nil as the description. A
// failure to load is logged, and then a list follows.
func TestPreloadFromLogsWhyNothingIsLoaded(t *testing.T) {
	for name, test := range map[string]struct {
		err     error
		version string
		level   string
	}{
		"an error": {errors.New("another cluster"), "7", "WARN"},
		"no file":  {fmt.Errorf("another cluster: %w", fs.ErrNotExist), "7", "INFO"},
		"nothing":  {nil, "", "WARN"},
		"zero":     {nil, "0", "WARN"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				r := newRig(t, informer.Options[*corev1.Pod]{Logger: slog.New(slog.NewTextHandler(&log, nil))})
				_, err := r.server.Create(newPod(key(5)))
				require.NoError(t, err)
				loads := 0
				require.NoError(t, informer.PreloadFrom(r.informer, func(map[string]string) ([]indexer.Entry[*corev1.Pod], string, error) {
					loads++
					return []indexer.Entry[*corev1.Pod]{{Key: key(1), Object: newPod(key(1)), ResourceVersion: "3"}}, test.version, test.err
				}))
				received := &receivedEvents{}
				r.add(received.handle, informer.HandlerOptions{})
				r.runSynced()
				require.Equal(t, []string{"Added pod-5 initial"}, received.take())
				require.Equal(t, 1, loads)
				require.NoError(t, r.stop())
				require.Contains(t, log.String(), "level="+test.level+` msg="nothing is preloaded`)
				if test.err != nil {
					require.Contains(t, log.String(), "another cluster")
				}
			})
		})
	}
}

func TestMergeDescribesAllItsParts(t *testing.T) {
	t.Parallel()
	plain := rest.Must(rest.NewResource[*corev1.Pod](nowhere(t), pods, rest.ResourceOptions{}))
	describedAs := func(cluster string) describedSource {
		return describedSource{Source: plain, description: map[string]string{"cluster": cluster, "resource": "/v1/pods"}}
	}
	describe := func(source listwatch.Source[*corev1.Pod]) (map[string]string, error) {
		return source.(listwatch.Describer).Describe(t.Context())
	}
	about, err := describe(sources.Merge[*corev1.Pod](describedAs("b"), describedAs("a")))
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"part 1 of 2": `cluster="a" resource="/v1/pods"`, "part 2 of 2": `cluster="b" resource="/v1/pods"`,
	}, about)
	again, err := describe(sources.Merge[*corev1.Pod](describedAs("a"), describedAs("b")))
	require.NoError(t, err)
	require.Equal(t, about, again, "the order of the parts does not matter")
	less, err := describe(sources.Merge[*corev1.Pod](describedAs("a"), describedAs("a"), describedAs("b")))
	require.NoError(t, err)
	require.NotEqual(t, about, less)

	keep := func(pod *corev1.Pod) (*corev1.Pod, error) { return pod, nil }
	about, err = describe(sources.Transform[*corev1.Pod](describedAs("a"), keep))
	require.NoError(t, err)
	require.Equal(t, describedAs("a").description, about)

	silent := struct{ listwatch.Source[*corev1.Pod] }{plain}
	for _, source := range []listwatch.Source[*corev1.Pod]{
		sources.Merge[*corev1.Pod](describedAs("a"), silent),
		sources.Merge[*corev1.Pod](describedAs("a"), describedSource{Source: plain}),
		sources.Transform[*corev1.Pod](silent, keep),
	} {
		about, err = describe(source)
		require.NoError(t, err)
		require.Nil(t, about, "if one part has no description, the merged source has none")
	}

	broken := errors.New("refused")
	var calls atomic.Int32
	parts := []listwatch.Source[*corev1.Pod]{describedSource{Source: plain, fails: broken, calls: &calls}}
	for range 30 {
		parts = append(parts, describedSource{Source: plain, description: describedAs("a").description, calls: &calls})
	}
	_, err = describe(sources.Merge(parts...))
	require.ErrorIs(t, err, broken)
	require.EqualValues(t, len(parts), calls.Load(), "Describe waits for all parts")
}
