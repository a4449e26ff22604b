package e2e_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/informer"
	checker "github.com/kinform/kinform/internal/testing/guarantees"
)

var soak = flag.Duration("soak", 12*time.Second, "how long to inject faults into pipelines, in all settings together")

// TestGuaranteesHoldUnderFaults injects faults into pipelines of all settings. It checks G1 to G8
// with event checkers, and G10 like every test.
func TestGuaranteesHoldUnderFaults(t *testing.T) {
	ways := everyWay(configMaps)
	for _, s := range ways {
		t.Run(s.String(), func(t *testing.T) {
			p := startPipeline[*corev1.ConfigMap](t, s)
			require.NoError(t, p.informer.AddIndex("step", byStep))
			p.waitForSync(t)
			injectFaults(t, p, time.Now().Add(*soak/time.Duration(len(ways))))
			p.stop(t)
		})
	}
}

func byStep(m *corev1.ConfigMap) ([]string, error) { return []string{m.Annotations["step"]}, nil }

// injectFaults injects faults into p in rounds. Each round ends with a comparison.
func injectFaults(t *testing.T, p *pipeline[*corev1.ConfigMap], until time.Time) {
	changes := configMapChurn()
	var witnesses []*checker.EventChecker[*corev1.ConfigMap]
	rounds := 0
	for ; time.Now().Before(until); rounds++ {
		stop := changes.start(t)
		for range 5 {
			witnesses = injectFault(t, p, witnesses)
			requireIndex(t, p)
			time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
		}
		stop()
		requireOwnWrites(t, p)
		p.requireServerState(t)
		want := p.stored()
		for _, w := range witnesses {
			// G2, G5
			eventually(t, time.Minute, func() string { return difference(want, w.Versions()) })
			require.Empty(t, w.Violations())
		}
	}
	t.Logf("%d rounds, %d reported failures", rounds, len(p.failures()))
	for _, w := range witnesses {
		w.Registration().Remove()
		<-w.Registration().Done()
	}
}

// injectFault makes one random fault, or adds or removes an event checker. It returns the event
// checkers that exist afterwards.
func injectFault(t *testing.T, p *pipeline[*corev1.ConfigMap], witnesses []*checker.EventChecker[*corev1.ConfigMap]) []*checker.EventChecker[*corev1.ConfigMap] {
	switch n := rand.IntN(40); {
	case n < 10:
		p.network.Cut()
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
		p.network.Heal()
	case n < 20:
		_, err := kube.Compact(t.Context())
		require.NoError(t, err)
	case n < 30 && len(witnesses) < 10:
		pace := time.Duration(rand.IntN(2)*rand.IntN(3)) * time.Millisecond
		w, err := checker.AddChecker(p.informer, informer.HandlerOptions{Overflow: informer.Overflow(rand.IntN(3)), Mailbox: 1 + rand.IntN(100)},
			func(informer.Event[*corev1.ConfigMap]) { time.Sleep(pace) })
		require.NoError(t, err)
		witnesses = append(witnesses, w)
	case n < 35 && len(witnesses) > 0:
		w := witnesses[0]
		witnesses = slices.Delete(witnesses, 0, 1)
		w.Registration().Remove()
		<-w.Registration().Done()
		require.Empty(t, w.Violations())
	case n == 39 && *soak >= time.Minute:
		require.NoError(t, kube.KillAPIServer())
		require.NoError(t, kube.StartAPIServer(t.Context()))
	}
	return witnesses
}

// requireIndex compares an index with the objects of one snapshot of the store (G7).
func requireIndex(t *testing.T, p *pipeline[*corev1.ConfigMap]) {
	t.Helper()
	require.Empty(t, checker.IndexMismatch(p.informer.Store().Snapshot(), "step", byStep))
}

// requireOwnWrites waits until the store has the server's newest version. The store must then have
// all changes through this version (G8).
func requireOwnWrites(t *testing.T, p *pipeline[*corev1.ConfigMap]) {
	t.Helper()
	want, err := kube.List(t.Context(), p.path)
	require.NoError(t, err)
	newest := uint64(0)
	for _, version := range want {
		n, err := strconv.ParseUint(version, 10, 64)
		require.NoError(t, err)
		newest = max(newest, n)
	}
	require.NoError(t, p.informer.Store().WaitRV(t.Context(), strconv.FormatUint(newest, 10)))
	for key, version := range want {
		entry, ok := p.informer.Store().Entry(key)
		require.True(t, ok && entry.ResourceVersion == version, "%v is %s, not %s", key, entry.ResourceVersion, version)
	}
}
