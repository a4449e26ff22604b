package informer_test

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// In one of several parts, a preloaded store is ahead of the version from which the parts are
// watched. Events from before an object was recreated have no effect, whether they can be decoded
// or not.
func TestG2_APreloadedNewerObjectIgnoresUndecodableOlderEvents(t *testing.T) {
	for name, modified := range map[string]bool{"a deletion": false, "a change": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newMergedRig(t, apitest.Options{}, informer.Options[*corev1.Pod]{})
				for n := range 9 {
					r.write(n, "first")
				}
				r.runSynced()
				r.write(8, "x") // ns-2
				r.write(6, "x") // ns-0
				time.Sleep(15 * time.Second)
				if modified {
					r.write(0, "y")
				}
				require.NoError(t, r.server.Delete(pods, key(0)))
				r.write(0, "again")
				synctest.Wait()
				saved := r.informer.Store().Snapshot()
				defer saved.Release()
				version := saved.ResourceVersion()
				entry, ok := r.informer.Store().Entry(key(0))
				require.True(t, ok)
				require.Greater(t, number(t, entry.ResourceVersion), number(t, version), "the object is newer than the store's version")
				require.NoError(t, r.stop())

				inf, err := informer.New(mergedPods(t, r.server, "ns-0", "ns-2"), informer.Options[*corev1.Pod]{Logger: slog.New(slog.DiscardHandler)})
				require.NoError(t, err)
				require.NoError(t, informer.Preload(inf, saved.Entries(), version))
				broken := r.server.Inject(apitest.Fault{Verb: "watch", Action: apitest.UndecodableObject(1), Match: func(q apitest.Request) bool {
					return inNamespace("ns-0")(q) && q.HTTP.URL.Query().Get("resourceVersion") == version
				}})
				r.informer = inf
				p := &contentHandler{}
				r.add(p.handle, informer.HandlerOptions{})
				r.run()
				time.Sleep(2 * time.Minute)
				require.NotZero(t, broken.Hits())
				require.Equal(t, r.merged(), r.stored())
				require.Len(t, p.contents(), len(r.merged()))
				require.NoError(t, inf.Store().Undecodable(key(0)), "the stored object is newer than the undecodable one")
				require.NoError(t, r.stop())
			})
		})
	}
}
