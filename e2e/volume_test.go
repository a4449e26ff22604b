package e2e_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// These are limits on the heap for 50,000 config maps of 1.5 kB each. streamBound is for a stream
// whose objects are dropped. peakFactor is for an informer, as a multiple of its final heap. Go's
// garbage collector alone needs a factor of two.
const (
	volume      = 50_000
	streamBound = 24 << 20
	peakFactor  = 2.5
)

func manyMaps(i int) any {
	return map[string]any{
		"metadata": map[string]any{"name": fmt.Sprintf("many-%05d", i), "labels": map[string]any{"app": fmt.Sprint("app-", i%100)}},
		"data":     map[string]any{"number": fmt.Sprint(i), "settings": strings.Repeat(fmt.Sprintf("key-%05d: value\n", i), 64)},
	}
}

func TestFiftyThousandConfigMapsInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("the creation of the objects takes some minutes")
	}
	useOwnCluster(t, cluster.Options{})

	t.Run("watched as they are created", func(t *testing.T) {
		p := startPipeline[*corev1.ConfigMap](t, configMaps)
		p.waitForSync(t)
		peak := watchHeap()
		begin := time.Now()
		require.NoError(t, cluster.Parallel(volume, func(i int) error { return kube.Create(t.Context(), configMapsPath, manyMaps(i)) }))
		t.Logf("created in %v", time.Since(begin))
		most := peak()
		p.requireServerState(t)
		require.Empty(t, p.failures())
		requireBounded(t, p, most)
		p.stop(t)
	})
	for _, s := range []settings{
		{encoding: rest.JSON, mode: reflector.List},
		{encoding: rest.Protobuf, mode: reflector.WatchList},
	} {
		s.resource, s.path = configMaps.resource, configMaps.path
		t.Run(s.String(), func(t *testing.T) {
			t.Run("read and forgotten", func(t *testing.T) {
				client := newClient(t, kube.Config())
				resource := rest.Must(rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{Encoding: s.encoding}))
				before := heapInUse()
				peak := watchHeap()
				require.GreaterOrEqual(t, read(t, resource, s.mode), volume)
				most := peak()
				t.Logf("%.1f MiB received, heap %.1f MiB before, %.1f MiB at most", mib(client.Stats().BytesReceived), mib(before), mib(most))
				require.Greater(t, client.Stats().BytesReceived, uint64(2*streamBound))
				require.Less(t, most, 2*before+streamBound)
			})
			t.Run("informer", func(t *testing.T) {
				peak := watchHeap()
				p := startPipeline[*corev1.ConfigMap](t, s)
				p.waitForSync(t)
				most := peak()
				p.requireServerState(t)
				requireBounded(t, p, most)
				p.stop(t)
			})
		})
	}
}

// requireBounded checks the peak of the heap while a pipeline filled its store.
func requireBounded(t *testing.T, p *pipeline[*corev1.ConfigMap], peak uint64) {
	t.Helper()
	require.GreaterOrEqual(t, p.informer.Store().Len(), volume)
	live := heapInUse()
	t.Logf("heap: %.1f MiB in the end, %.1f MiB at most", mib(live), mib(peak))
	require.Less(t, float64(peak), peakFactor*float64(live))
	runtime.KeepAlive(p)
}

// read reads all of the server's objects without keeping them, and returns their number.
func read(t *testing.T, resource *rest.Resource[*corev1.ConfigMap], mode reflector.ListMode) (n int) {
	if mode == reflector.List {
		stream, err := resource.List(t.Context(), listwatch.ListOptions{ResourceVersion: "0"})
		require.NoError(t, err)
		defer stream.Close()
		for {
			if _, err := stream.Next(); err != nil {
				require.True(t, errors.Is(err, io.EOF), "%v", err)
				return n
			}
			n++
		}
	}
	stream, err := resource.Watch(t.Context(), listwatch.WatchOptions{SendInitialEvents: true, Timeout: time.Minute})
	require.NoError(t, err)
	defer stream.Close()
	for {
		event, err := stream.Next()
		require.NoError(t, err)
		if event.InitialEventsEnd {
			return n
		}
		n++
	}
}

// watchHeap measures the heap until peak is called. The heap includes dead objects that are not
// collected yet. peak returns the maximum.
func watchHeap() (peak func() uint64) {
	runtime.GC()
	const name = "/memory/classes/heap/objects:bytes"
	var most uint64
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		sample := []metrics.Sample{{Name: name}}
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	return func() uint64 {
		close(done)
		group.Wait()
		return most
	}
}
