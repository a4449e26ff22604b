package informer_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/internal/testing/testsize"
)

// breakPart breaks the watch of one part. The part then opens another watch.
func (r *rig) breakPart(part int) {
	namespace := fmt.Sprintf("part-%d", part)
	_, err := r.server.Create(newPod(types.NamespacedName{Namespace: namespace, Name: "last-" + r.server.ResourceVersion()}))
	require.NoError(r.t, err)
}

// If the list for a comparison of versions hangs, the part is watched without the comparison.
func TestPartWhoseListHangsIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPartsRig(t, 3)
		r.server.Inject(apitest.Fault{Verb: "watch", Times: 1, Match: inNamespace("part-1"), Action: apitest.DropAfterEvents(1)})
		r.runSynced()
		r.server.Inject(apitest.Fault{Verb: "list", Match: inNamespace("part-1"), Action: apitest.Delay(time.Hour)})
		time.Sleep(time.Second)
		r.breakPart(1)
		time.Sleep(time.Second)
		_, err := r.server.Create(newPod(partKey(1)))
		require.NoError(t, err)
		r.within(10*time.Second, partKey(1))
	})
}

// If a connection breaks, its part opens a new watch, and the other parts are not affected.
func TestPartThatLosesItsConnectionIsNotListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPartsRig(t, 3)
		r.runSynced()
		lists := r.informer.Status().Reflector.Lists
		for range 10 {
			time.Sleep(time.Minute)
			r.server.Inject(apitest.Fault{Verb: "watch", Match: inNamespace("part-1"), Times: 1, Action: apitest.DropAfterEvents(1)})
			r.server.EndWatches("")
			time.Sleep(time.Second)
			r.breakPart(1)
			time.Sleep(10 * time.Second)
			require.NoError(t, r.informer.Store().WaitRV(t.Context(), r.server.ResourceVersion()))
		}
		require.Equal(t, lists, r.informer.Status().Reflector.Lists)
	})
}

// However many parts lose their watches at once, the server gets at most AtOnce requests at a time.
func TestPartsThatReconnectSendFewConcurrentRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const parts = 50
		r := newPartsRig(t, parts)
		r.server.Inject(apitest.Fault{Verb: "watch", Times: parts - 1, Match: func(q apitest.Request) bool { return !inNamespace("part-0")(q) }, Action: apitest.DropAfterEvents(1)})
		r.runSynced()
		time.Sleep(10 * time.Second)
		var now, most, requests atomic.Int32
		r.server.Inject(apitest.Fault{Verb: "list", Action: apitest.Delay(time.Second), Match: func(apitest.Request) bool {
			requests.Add(1)
			most.Store(max(most.Load(), now.Add(1)))
			time.AfterFunc(999*time.Millisecond, func() { now.Add(-1) })
			return true
		}})
		for part := 1; part < parts; part++ {
			r.breakPart(part)
		}
		time.Sleep(time.Minute)
		require.GreaterOrEqual(t, requests.Load(), int32(parts-1), "each part compares its version with the server's")
		require.LessOrEqual(t, most.Load(), int32(8))
		r.settle()
	})
}

// After one interrupted list, later lists become concurrent again.
func TestMergedListsBecomeConcurrentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPartsRig(t, 64)
		broken := r.server.Inject(apitest.Fault{Verb: "list", Times: 5, Match: inNamespace("part-4"), Action: apitest.CutBody(30)})
		r.runSynced()
		require.Equal(t, 5, broken.Hits())
		var now, most atomic.Int32
		r.server.Inject(apitest.Fault{Verb: "list", Action: apitest.Delay(time.Second), Match: func(q apitest.Request) bool {
			if q.HTTP.URL.Query().Get("limit") == "1" {
				return false // This list is for a comparison.
			}
			most.Store(max(most.Load(), now.Add(1)))
			time.AfterFunc(999*time.Millisecond, func() { now.Add(-1) })
			return true
		}})
		for range 8 {
			most.Store(0)
			r.breakPart(5)
			r.server.Compact()
			r.server.DropWatches("")
			time.Sleep(10 * time.Minute)
		}
		require.EqualValues(t, 8, most.Load())
	})
}

// A server that stops ends its watches cleanly, and the next response may come from another
// history. So each part compares the histories.
func TestPartsWhoseWatchesEndEarlyAreCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPartsRig(t, 3)
		later := func(part int) types.NamespacedName {
			return types.NamespacedName{Namespace: fmt.Sprintf("part-%d", part), Name: "later"}
		}
		backup := r.server.Backup()
		for part := range 3 {
			_, err := r.server.Create(newPod(later(part)))
			require.NoError(t, err)
		}
		r.runSynced()
		require.NoError(t, r.informer.Store().WaitRV(t.Context(), r.server.ResourceVersion()))
		_, known := r.informer.Store().Get(later(1))
		require.True(t, known)
		time.Sleep(30 * time.Second)

		// The next watches are requested before the restore, and their responses come after it.
		r.server.Inject(apitest.Fault{Verb: "watch", Times: 3, Action: apitest.Delay(time.Second)})
		r.server.EndWatches("pods")
		synctest.Wait()
		r.server.Restore(backup)
		time.Sleep(90 * time.Second) // An older state is accepted when the server has repeated it.
		_, known = r.informer.Store().Get(later(1))
		require.False(t, known, "the pod does not exist in the new history")
	})
}

// A part that disconnects and reconnects leaks no goroutines.
func TestPartThatReconnectsLeaksNothing(t *testing.T) { // G10
	synctest.Test(t, func(t *testing.T) {
		r := newPartsRig(t, 3)
		r.runSynced()
		comeAndGo := func(times int) int {
			for n := range times {
				fault := r.server.Inject(apitest.Fault{Match: inNamespace("part-1"), Action: []apitest.Action{apitest.Code(403, 0), apitest.Drop(), apitest.Delay(time.Hour)}[n%3]})
				r.server.EndWatches("")
				time.Sleep(5 * time.Minute)
				fault.Remove()
				time.Sleep(15 * time.Minute)
				require.Empty(t, r.informer.Status().Parts, fmt.Sprint(n))
			}
			synctest.Wait()
			return runtime.NumGoroutine()
		}
		few := comeAndGo(3)
		require.LessOrEqual(t, comeAndGo(testsize.Scale(60, 20)), few+2)
		r.settle()
		require.NoError(t, r.stop())
	})
}
