package main

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/types"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quickSettings has settings that are just enough to measure everything once.
var quickSettings = settings{runs: 1, period: time.Millisecond, adds: 100, rate: 20_000, work: time.Microsecond, rounds: 20}

// reportOf runs the program and returns its report. It checks for invalid numbers.
func reportOf(t *testing.T, set settings) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, run(set, &out))
	require.NotContains(t, out.String(), "NaN")
	require.NotContains(t, out.String(), "Inf")
	return out.String()
}

func TestEveryRowIsMeasured(t *testing.T) {
	out := reportOf(t, quickSettings)
	for _, r := range rows {
		require.Contains(t, out, "\n"+r.name)
	}
	for _, q := range idleQueues {
		require.Contains(t, out, "\n"+q.name)
	}
	require.Regexp(t, `client-go +controller-rt\. +plain +kinform +ratio`, out)
	require.Regexp(t, `Add, Get, Done, one goroutine +\d+ +\d+ +\d+ +\d+ +\d`, out)
	require.Regexp(t, `a producer that does not wait, 8 workers, Gets per Add +[\d.]+ +- +[\d.]+ +[\d.]+\n`, out)
	require.Regexp(t, `with priorities, one producer, 8 workers, wall +- +\d+ +- +\d+ +\d`, out)
	fitsOnAScreen(t, out)
}

func fitsOnAScreen(t *testing.T, out string) {
	t.Helper()
	for line := range strings.Lines(out) {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 170)
	}
}

func TestTheTextbookNeverSeparatesComparedSides(t *testing.T) {
	for round := range 8 {
		order, waiting := sideOrder(round), latencyOrder(round)
		require.ElementsMatch(t, []int{clientGo, controllerRuntime, textbook, kinform}, order)
		require.Len(t, waiting, len(latencySubjects()))
		require.Contains(t, []int{0, len(order) - 1}, slices.Index(order, textbook))
		require.Contains(t, []int{0, len(waiting) - 1}, slices.Index(waiting, 1+textbook))
	}
}

func TestLatencyAndFairnessAreMeasured(t *testing.T) {
	set := quickSettings
	set.latency, set.fairness = true, true
	out := reportOf(t, set)
	for _, l := range loads(1, 1, 0) {
		require.Contains(t, out, "\n"+l.String())
	}
	for _, s := range sides {
		require.Contains(t, out, "\n"+s.name)
	}
	fitsOnAScreen(t, out)
}

func TestRowsCanBeChosen(t *testing.T) {
	require.Len(t, selected(""), len(rows))
	require.Len(t, selected("2 workers,parallel"), 5)
	set := quickSettings
	set.rows = "no such row"
	require.ErrorContains(t, run(set, &strings.Builder{}), "no such row")
}

// Measuring a queue that does nothing would be worthless.
func TestAllQueuesHandOutAddedKeys(t *testing.T) {
	for _, s := range sides {
		t.Run(s.name, func(t *testing.T) {
			q := s.open()
			defer q.shutDown()
			q.add(keys[0])
			q.add(keys[0])
			q.addAfter(keys[1], time.Millisecond)
			for _, want := range keys[:2] {
				key, ok := q.get()
				require.True(t, ok)
				require.Equal(t, want, key)
				q.done(key)
			}
			waitUntilProcessed(q)
		})
	}
}

func TestHigherPrioritiesAreHandedOutFirst(t *testing.T) {
	for _, s := range sides {
		q := s.open()
		if p, ok := q.(prioritised); ok {
			for level := range priorities {
				p.addPriority(keys[level], level)
			}
			q.flush()
			for level := len(priorities) - 1; level >= 0; level-- {
				key, _ := q.get()
				require.Equal(t, keys[level], key, s.name)
				q.done(key)
			}
		}
		q.shutDown()
	}
}

func TestKeysHaveNumbers(t *testing.T) {
	distinctKeys := map[types.NamespacedName]bool{sentinel: true}
	for n, key := range keys {
		distinctKeys[key] = true
		require.Equal(t, n%pending, number(key))
	}
	require.Len(t, distinctKeys, len(keys)+1)
}

// stuckQueue blocks the producer once.
type stuckQueue struct {
	queue
	adds int
}

const stuck = 50 * time.Millisecond

func (q *stuckQueue) add(key types.NamespacedName) {
	q.adds++
	if q.adds == 10 {
		time.Sleep(stuck)
	}
	q.queue.add(key)
}

func TestABlockedProducerCountsAsWait(t *testing.T) {
	l := load{adds: 200, rate: 2000, workers: 1}
	w, err := l.run(func() queue { return &stuckQueue{queue: openBare()} })
	require.NoError(t, err)
	long := 0
	for _, d := range w.all {
		if d >= stuck/2 {
			long++
		}
	}
	require.Greater(t, long, 25, "half of the 100 adds that are due while the producer is stuck must wait at least stuck/2")
}

func TestOnlyTheLeastDelayedRunsCount(t *testing.T) {
	var runs []latencyRun
	for _, delayed := range []time.Duration{9, 1, 8, 2, 7} {
		runs = append(runs, latencyRun{quantiles: []float64{float64(delayed)}, delayed: delayed})
	}
	require.Equal(t, 1.5, medianOf(runs, func(r latencyRun) float64 { return r.quantiles[0] }))
	require.Equal(t, 9.0, medianOf(runs[:1], func(r latencyRun) float64 { return r.quantiles[0] }))
}

func TestAZipfLoadAddsSomeKeysMoreOften(t *testing.T) {
	count := func(zipf bool) (most int) {
		counts := map[int]int{}
		for _, a := range (load{adds: distinct, rate: 1000, zipf: zipf}).arrivals() {
			counts[a.key]++
			most = max(most, counts[a.key])
		}
		return most
	}
	require.Less(t, count(false), 20)
	require.Greater(t, count(true), distinct/20)
}

func TestArrivalsKeepTheRate(t *testing.T) {
	all := load{adds: 10_000, rate: 1000}.arrivals()
	require.InDelta(t, 10, all[len(all)-1].due.Seconds(), 0.5)
	for n := range all[1:] {
		require.GreaterOrEqual(t, all[n+1].due, all[n].due)
	}
}

func TestJainsIndex(t *testing.T) {
	require.Equal(t, 1.0, jain([]float64{2, 2, 2, 2}))
	require.Equal(t, 0.25, jain([]float64{1, 0, 0, 0}))
	require.Equal(t, []float64{45, 1, 45, 9}, maxMin([]int{100, 1, 50, 9}, 100))
	require.Equal(t, []float64{3, 4}, maxMin([]int{3, 4}, 100))
}

// roundRobinQueue is a queue that serves namespaces one after the other.
type roundRobinQueue struct {
	queue
	waiting [][]types.NamespacedName
	of      map[string]int
	next    int
}

func (q *roundRobinQueue) add(key types.NamespacedName) {
	n, ok := q.of[key.Namespace]
	if !ok {
		n = len(q.waiting)
		q.of[key.Namespace] = n
		q.waiting = append(q.waiting, nil)
	}
	q.waiting[n] = append(q.waiting[n], key)
}

func (q *roundRobinQueue) get() (types.NamespacedName, bool) {
	for len(q.waiting[q.next%len(q.waiting)]) == 0 {
		q.next++
	}
	n := q.next % len(q.waiting)
	key := q.waiting[n][0]
	q.waiting[n] = q.waiting[n][1:]
	q.next++
	return key, true
}

func TestFairnessDistinguishesQueues(t *testing.T) {
	c := defaultFairnessLoad(100)
	fair := c.run(func() queue { return &roundRobinQueue{queue: openBare(), of: map[string]int{}} })
	require.InDelta(t, 1, fairness(fair), 0.01)
	first := c.run(openClientGo)
	require.Less(t, fairness(first), 0.6)
	require.Equal(t, first, c.run(openClientGo), "the result must be the same in each run")
	require.Greater(t, first[1].waited[len(first[1].waited)-1], 1000, "keys that still wait at the end must count")
}

func TestVerdicts(t *testing.T) {
	r := row{target: 0.6, lean: true}
	require.Equal(t, "met", r.verdict(true, 0.5, 0.6, 0))
	require.Equal(t, "met?", r.verdict(true, 0.6, 0.61, 0))
	require.Equal(t, "missed", r.verdict(true, 0.61, 0.7, 0))
	require.Equal(t, "missed", r.verdict(true, 0.1, 0.1, 1))
	require.Empty(t, r.verdict(false, 9, 9, 9))
}
