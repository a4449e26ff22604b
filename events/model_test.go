package events_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/events"
	"github.com/kinform/kinform/internal/testing/testsize"
)

// At the end, the Event objects on the server, including objects that have expired, count all
// recorded events that were not dropped. An event whose response is lost counts once.
func TestRandomHistoriesConserveCounts(t *testing.T) {
	t.Parallel()
	for seed := range testsize.Scale[uint64](100, 6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 13))
				r := newRig(t, events.Options{MaxSeries: 5 + random.IntN(40), Burst: 3 + random.IntN(30)})
				if seed%2 == 1 { // The result must not depend on different hashes.
					r.Collide()
				}
				actions := []apitest.Action{apitest.Code(500, 0), apitest.Code(503, 0), apitest.Drop(), apitest.CutBody(3), apitest.Code(403, 0), apitest.Delay(3 * time.Second), apitest.Delay(time.Minute)}
				r.run(t)
				recorded, expired := uint64(0), uint64(0)
				var faults []*apitest.InjectedFault
				for range 300 {
					switch random.IntN(30) {
					case 0:
						verb := []string{"create", "patch", ""}[random.IntN(3)]
						faults = append(faults, r.server.Inject(apitest.Fault{Verb: verb, Resource: "events", Times: 1 + random.IntN(4), Action: actions[random.IntN(len(actions))]}))
					case 1:
						for _, f := range faults {
							f.Remove()
						}
					case 2:
						time.Sleep(time.Duration(random.Int64N(int64(10 * time.Minute))))
					case 3:
						// only while no request is in progress, because its count would be unknown
						for _, f := range faults {
							f.Remove()
						}
						time.Sleep(7 * time.Minute)
						require.Zero(t, r.balanced(t).Waiting)
						if stored := r.stored(t); len(stored) > 0 {
							e := stored[random.IntN(len(stored))]
							require.NoError(t, r.server.Delete(eventsGVR, types.NamespacedName{Namespace: e.Namespace, Name: e.Name}))
							expired++
							if e.Series != nil {
								expired += uint64(e.Series.Count) - 1
							}
						}
					default:
						for range random.IntN(8) {
							recorded++
							r.Normal(pod(fmt.Sprint("web-", random.IntN(8))), []string{"A", "B"}[random.IntN(2)], "note %d", random.IntN(20))
						}
						time.Sleep(time.Duration(random.IntN(20)) * time.Second)
					}
				}
				for _, f := range faults {
					f.Remove()
				}
				if seed%2 == 0 {
					time.Sleep(10 * time.Minute)
				}
				r.stop()
				require.NoError(t, <-r.ended)
				stats := r.balanced(t)
				require.Equal(t, recorded, stats.Recorded)
				require.Zero(t, stats.Waiting)
				require.Equal(t, recorded-stats.DroppedTotal(), stats.Sent)
				require.Equal(t, stats.Sent, r.counted(t)+expired, "%+v", stats)
				require.Positive(t, stats.Sent)
			})
		})
	}
}

// A million events about 100,000 objects are recorded while no server responds.
func TestRequestsOfAnEventStormAreBounded(t *testing.T) {
	r := newRig(t, events.Options{})
	inUse := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := inUse()
	n := 1_000_000
	if testing.Short() {
		n = 200_000
	}
	object := pod("web")
	for i := range n {
		object.Name = fmt.Sprint("web-", i%100_000)
		r.Normal(object, "Pulled", "the image %d", i%7)
	}
	grown := int64(inUse()) - int64(before)
	stats := r.balanced(t)
	require.EqualValues(t, n, stats.Recorded)
	require.Equal(t, 4096, stats.Series)
	require.Less(t, grown, int64(20<<20))
	t.Logf("%d kB for %d events, %d of them dropped", grown>>10, n, stats.DroppedTotal())
}

// BenchmarkRecord is the cost of a call for an event that was recorded before.
func BenchmarkRecord(b *testing.B) {
	recorder := newRig(b, events.Options{}).Recorder
	object := pod("web")
	b.ReportAllocs()
	for b.Loop() {
		recorder.Normal(object, "Pulled", "the image")
	}
}
