package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/workqueue"
)

func TestQuantilesAreAccurateToAnEighth(t *testing.T) {
	t.Parallel()
	for d := time.Duration(0); d < 5*time.Hour; d = d*9/8 + 1 {
		middle := midpoint(bucketOf(d))
		if bucketOf(d) == bucketCount-1 {
			require.Greater(t, d, time.Hour)
			break
		}
		require.InDelta(t, float64(d), float64(middle), float64(d)/8+1, "%v", d)
	}
	require.Equal(t, 0, bucketOf(-time.Second))
	require.Equal(t, bucketCount-1, bucketOf(1<<62))

	h, w := &histogram{}, &window{}
	w.of = h
	timesAt := func(since time.Duration) Times {
		var sum counts
		w.addTo(&sum, since)
		return sum.times()
	}
	require.Zero(t, timesAt(0))
	for n := range 100 {
		h.add(time.Duration(n+1) * time.Millisecond)
	}
	times := timesAt(time.Second)
	require.EqualValues(t, 100, times.Count)
	require.InDelta(t, 0.050, times.P50, 0.007)
	require.InDelta(t, 0.099, times.P99, 0.013)
	require.InDelta(t, 0.100, times.Max, 0.013)
	for second := range 9 {
		require.EqualValues(t, 100, timesAt(time.Duration(second+1)*time.Second).Count, second)
	}
	require.Zero(t, timesAt(12*time.Second), "durations older than ten seconds must not count")
	h.add(time.Second)
	require.EqualValues(t, 1, timesAt(13*time.Second).Count)
	require.Zero(t, timesAt(time.Hour))
}

func TestRingIsBoundedAndKeepsOrder(t *testing.T) {
	t.Parallel()
	r := &ring{start: time.Now()}
	r.put(recordedEvent{what: "closed"})
	all, next := r.after(0, nil)
	require.Empty(t, all, "the ring must be empty before the first refill")
	require.Zero(t, next)
	require.EqualValues(t, 1, r.keyQuota.lost.Load())
	seen := uint64(0)
	for frame := range 20 {
		r.refill()
		for n := range keysPerFrame + 10 {
			r.put(recordedEvent{count: frame*1000 + n})
		}
		for range batchesPerFrame + 10 {
			r.putBatch(recordedEvent{what: Batch})
		}
		if frame < 15 {
			continue // skip rounds, like a slow reader
		}
		var got []recordedEvent
		got, seen = r.after(seen, nil)
		require.LessOrEqual(t, len(got), ringSize)
		require.Equal(t, (frame)*1000+keysPerFrame-1, got[len(got)-1-batchesPerFrame].count)
		for i := 1; i < len(got); i++ {
			require.False(t, got[i].at.Before(got[i-1].at))
		}
	}
	require.EqualValues(t, 1+20*10, r.keyQuota.lost.Load())
}

// An object is in the sample of all boxes, or of no box. A coarser sample is a subset of a finer
// one.
func TestSampleIsByKey(t *testing.T) {
	t.Parallel()
	taken := map[uint64]int{}
	fine, coarse := newRecorder("", time.Now()), newRecorder("", time.Now())
	coarse.mask.Store(15)
	fine.mask.Store(3)
	hash := hashOf[types.NamespacedName]()
	for n := range 16_000 {
		key := types.NamespacedName{Namespace: fmt.Sprintf("ns-%d", n%7), Name: fmt.Sprintf("pod-%06d", n)}
		require.Equal(t, hashKey(key), hash(key))
		if coarse.keyInSample(key) {
			taken[15]++
			require.True(t, fine.keyInSample(key))
		}
		if fine.keyInSample(key) {
			taken[3]++
		}
	}
	require.InDelta(t, 1000, taken[15], 300)
	require.InDelta(t, 4000, taken[3], 600)
	require.NotZero(t, hashOf[int]()(7))
}

// Whether an object is in the sample depends on all bytes of its name and on a random seed of the
// process. Names with the same ending get different hashes.
func TestSampleIsUnpredictable(t *testing.T) {
	t.Parallel()
	hash := hashOf[types.NamespacedName]()
	hashes, bits := map[uint64]bool{}, uint64(0)
	first := hash(types.NamespacedName{Namespace: "tenant", Name: "aaaaaaaa-0000-zzzzzzzz"})
	for n := range 4096 {
		h := hash(types.NamespacedName{Namespace: "tenant", Name: fmt.Sprintf("aaaaaaaa-%04x-zzzzzzzz", n)})
		hashes[h], bits = true, bits|(h^first)
	}
	require.Len(t, hashes, 4096)
	require.Equal(t, ^uint64(0), bits)
	require.NotEqual(t, hash(types.NamespacedName{Namespace: "a", Name: "b"}), hash(types.NamespacedName{Namespace: "b", Name: "a"}))
}

// The recorders of removed entries are dropped, and the number of names is bounded.
func TestRecordersOfRemovedEntriesAreDropped(t *testing.T) {
	t.Parallel()
	v, err := New(Options{})
	require.NoError(t, err)
	for n := range 3 * maxNames {
		name := fmt.Sprint("queue-", n)
		q := workqueue.New(QueueOptions(v, workqueue.Options[string]{Name: name, Logger: silent}))
		remove := Queue(v, q)
		require.NotNil(t, v.frameBuilder(name))
		remove()
		require.Nil(t, v.frameBuilder(name))
		QueueOptions(v, workqueue.Options[string]{Name: name}) // a queue that is never shown
	}
	require.Empty(t, v.queues)
	require.Empty(t, v.builders)
	require.Len(t, v.recorders.queues.byName, maxNames)
	require.Len(t, v.recorders.queues.names, maxNames)

	// A shown queue keeps its recorder, for any number of later names.
	kept := workqueue.New(QueueOptions(v, workqueue.Options[string]{Name: "kept", Logger: silent}))
	remove := Queue(v, kept)
	for n := range 2 * maxNames {
		QueueOptions(v, workqueue.Options[string]{Name: fmt.Sprint("other-", n)})
	}
	require.Len(t, v.recorders.queues.byName["kept"], 1)
	remove()
	require.Empty(t, v.recorders.queues.byName["kept"])
}

func TestTextsFromOutsideAreCleaned(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ns/pod":                    "ns/pod",
		"<script>alert(1)</script>": "<script>alert(1)</script>", // The page shows it as text.
		"a\x00b\x1b[2Jc\u202Ed\n":   "a\uFFFDb\uFFFD[2Jc\uFFFDd\uFFFD",
		"\xff\xfe":                  "\uFFFD\uFFFD",
		"Grüße, 世界 👋":               "Grüße, 世界 👋",
	} {
		require.Equal(t, want, clean(in))
	}
	for _, long := range []string{strings.Repeat("x", 1<<20), strings.Repeat("世", 1<<18), strings.Repeat("\xff", 1<<18), strings.Repeat("👋", 1000)} {
		got := clean(long)
		require.LessOrEqual(t, len(got), 3*maxText+3)
		require.True(t, utf8.ValidString(got))
		require.True(t, strings.HasSuffix(got, "…"))
	}
	require.Equal(t, "7", nameOf(7))
	require.Equal(t, "a", nameOf(types.NamespacedName{Name: "a"}))
}

// The sample has the whole path of a change, in order, including failures on the way.
func TestSampleHasAllEventsOfAChange(t *testing.T) {
	t.Parallel()
	var failed bool
	r := start(t, Options{}, 1, reconciler(func(key types.NamespacedName) error {
		if key.Name == "new" && !failed {
			failed = true
			return errors.New("no\x07 <b>luck</b>")
		}
		return nil
	}))
	next := r.stream(t, "?of=pods")
	require.NotNil(t, next().Hello)
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = "ns-0", "new"
	_, err := r.server.Create(pod)
	require.NoError(t, err)
	var whats []string
	want := []string{Received, Delta, Queued, Taken, Failed, Retried, Done, Queued, Taken, Done}
	for len(whats) < len(want) {
		for _, e := range next().Frame.Events {
			require.LessOrEqual(t, e.At, 0.0)
			if e.Key == "ns-0/new" && e.What != Delivered {
				whats = append(whats, e.What)
			}
			if e.What == Failed {
				require.Equal(t, "no\uFFFD <b>luck</b>", e.Text)
				require.Equal(t, "pods", e.Component)
			}
			if e.What == Retried {
				require.Positive(t, e.Wait)
			}
		}
	}
	// Each stage records its events after they have happened, in its own goroutine. So only the
	// order within a stage is fixed.
	require.ElementsMatch(t, want, whats)
	of := func(stage ...string) []string {
		return slices.DeleteFunc(slices.Clone(whats), func(what string) bool { return !slices.Contains(stage, what) })
	}
	require.Equal(t, []string{Received, Delta}, of(Received, Delta))
	require.Equal(t, []string{Taken, Failed, Retried, Done, Taken, Done}, of(Taken, Failed, Retried, Done))
}

func reconciler(reconcile func(types.NamespacedName) error) func(context.Context, types.NamespacedName) error {
	return func(_ context.Context, key types.NamespacedName) error { return reconcile(key) }
}
