package e2e_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

var configMaps = settings{resource: corev1.SchemeGroupVersion.WithResource("configmaps"), path: configMapsPath}

func TestChurnWhileEtcdIsCompacted(t *testing.T) {
	for _, s := range everyWay(pods) {
		t.Run(s.String(), func(t *testing.T) {
			p := startPipeline[*corev1.Pod](t, s)
			p.waitForSync(t)
			stop := podChurn().start(t)
			for range 5 {
				time.Sleep(200 * time.Millisecond)
				_, err := kube.Compact(t.Context())
				require.NoError(t, err)
			}
			stop()
			p.requireServerState(t)
			p.stop(t)
		})
	}
}

func TestWatchFromBeforeACompactionRelists(t *testing.T) {
	for _, s := range everyWay(configMaps) {
		t.Run(s.String(), func(t *testing.T) {
			changes := configMapChurn()
			changes.steps(t, 200)
			p := startPipeline[*corev1.ConfigMap](t, s)
			p.waitForSync(t)
			p.requireServerState(t)

			p.network.Cut()
			changes.steps(t, 200)
			_, err := kube.Compact(t.Context())
			require.NoError(t, err)
			p.network.Heal()

			p.requireServerState(t)
			// The watch that requests the last event again gets 410. There, 410 does not count as a
			// failure. A list follows because the server was unreachable.
			require.NotZero(t, p.informer.Status().Reflector.Comparisons)
			require.NotZero(t, p.informer.Status().Reflector.Relists)
			require.NotZero(t, p.events.tombstones(), "the relist must find deletions")
			p.stop(t)
		})
	}
}

func TestServerRestartsUnderAnOpenWatch(t *testing.T) {
	for _, s := range everyWay(pods) {
		t.Run(s.String(), func(t *testing.T) {
			p := startPipeline[*corev1.Pod](t, s)
			p.waitForSync(t)
			stop := podChurn().start(t)
			time.Sleep(200 * time.Millisecond)
			require.NoError(t, kube.KillAPIServer())
			require.NoError(t, kube.StartAPIServer(t.Context()))
			time.Sleep(200 * time.Millisecond)
			stop()
			p.requireServerState(t)
			require.NotZero(t, p.informer.Status().Reflector.Errors, "the client must report the restart as an error")
			p.stop(t)
		})
	}
}

// A restarted server has a new watch cache. Therefore a client with an older version must relist
// all 5,000 pods, of which only a few have changed.
func TestARelistNotifiesHandlersOnlyOfChanges(t *testing.T) {
	for _, s := range everyWay(pods) {
		t.Run(s.String(), func(t *testing.T) {
			changes := podChurn()
			changes.steps(t, 100)
			p := startPipeline[*corev1.Pod](t, s)
			p.waitForSync(t)
			p.requireServerState(t)
			before, notified, decoded := p.stored(), p.events.eventCount(), p.client.Stats().Decoded

			p.network.Cut()
			changes.steps(t, 100)
			_, err := kube.Compact(t.Context())
			require.NoError(t, err)
			require.NoError(t, kube.KillAPIServer())
			require.NoError(t, kube.StartAPIServer(t.Context()))
			p.network.Heal()

			p.requireServerState(t)
			require.NotZero(t, p.informer.Status().Reflector.Relists, "%v", p.failures())
			changed := changed(before, p.stored())
			require.Equal(t, changed, p.events.eventCount()-notified)
			require.LessOrEqual(t, p.client.Stats().Decoded-decoded, uint64(changed), "unchanged pods must not be decoded again")
			p.stop(t)
		})
	}
}

func TestTokenIsRotated(t *testing.T) {
	for _, s := range everyWay(pods) {
		t.Run(s.String(), func(t *testing.T) {
			began := time.Now()
			p := startPipeline[*corev1.Pod](t, s)
			p.waitForSync(t)
			changes := podChurn()
			stop := changes.start(t)
			_, err := kube.RotateToken(t.Context())
			require.NoError(t, err)
			stop()
			p.requireServerState(t) // An open watch continues after its token has expired.

			p.network.Cut() // the next watch must use the new token
			p.network.Heal()
			changes.steps(t, 50)
			p.requireServerState(t)
			// After a minute, the client may have read the new token from the file without a 401.
			if time.Since(began) < time.Minute {
				require.NotZero(t, p.count(apierrors.IsUnauthorized), "the server must have refused the old token with 401: %v", p.failures())
			}
			p.stop(t)
		})
	}
}
