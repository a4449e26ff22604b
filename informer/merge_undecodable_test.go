package informer_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/reflector"
)

// An undecodable object of a part stays undecodable while the part cannot be listed, even if the
// other parts are listed.
func TestG2_APartThatIsNotListedKeepsItsUndecodableObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPartsRig(t, 3)
		r.runSynced()
		broken := r.server.Inject(apitest.Fault{Verb: "watch", Match: inNamespace("part-2"), Action: apitest.UndecodableObject(1)})
		r.server.DropWatches("")
		time.Sleep(10 * time.Second)
		pod := newPod(partKey(2))
		pod.Labels["changed"] = "yes"
		_, err := r.server.Update(pod)
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		requireUndecodable := func() {
			t.Helper()
			require.ErrorIs(t, r.informer.Healthy(time.Hour), reflector.ErrUndecodable)
			require.ErrorContains(t, r.informer.Healthy(time.Hour), partKey(2).String())
			require.Equal(t, 1, r.informer.Status().Undecodable.Count)
			require.Error(t, r.informer.Store().Undecodable(partKey(2)))
			stored, ok := r.informer.Store().Get(partKey(2))
			require.True(t, ok)
			require.NotContains(t, stored.Labels, "changed")
		}
		requireUndecodable()
		failing := r.server.Inject(apitest.Fault{Verb: "list", Match: inNamespace("part-2"), Action: apitest.Code(500, 0)})
		for range 3 { // Each list replaces the result of the list before.
			lists := r.informer.Status().Reflector.Lists
			r.server.Inject(apitest.Fault{Verb: "watch", Times: 2, Match: inNamespace("part-0"), Action: apitest.Expired()})
			r.server.DropWatches("")
			time.Sleep(10 * time.Minute)
			require.Greater(t, r.informer.Status().Reflector.Lists, lists)
			require.NotEmpty(t, r.informer.Status().Parts)
			requireUndecodable()
		}
		broken.Remove()
		failing.Remove()
		time.Sleep(15 * time.Minute)
		require.NoError(t, r.informer.Healthy(time.Hour))
		require.Equal(t, r.versions(), r.stored())
	})
}
