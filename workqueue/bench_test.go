package workqueue_test

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/workqueue"
)

// keys returns n distinct keys as long as typical pod names.
func keys(n int) []types.NamespacedName {
	all := make([]types.NamespacedName, n)
	for i := range all {
		all[i] = types.NamespacedName{Namespace: "production", Name: "frontend-7d4b9c6f5-" + strconv.Itoa(i)}
	}
	return all
}

// BenchmarkCycle is Add, Get, Done on one goroutine: the cost of a key without contention or
// blocking.
func BenchmarkCycle(b *testing.B) {
	q := workqueue.New(workqueue.Options[types.NamespacedName]{})
	ctx := b.Context()
	all := keys(1024)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q.Add(all[i%len(all)])
		key, _ := q.Get(ctx)
		q.Done(key)
	}
}

// BenchmarkMerged is Add of keys that are already queued, on one goroutine.
func BenchmarkMerged(b *testing.B) {
	q := workqueue.New(workqueue.Options[types.NamespacedName]{})
	all := keys(1024)
	for _, key := range all {
		q.Add(key)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q.Add(all[i%len(all)])
	}
}

// BenchmarkContended is Get, Done, Add on eight goroutines with a thousand circulating keys, so
// that no goroutine blocks: it measures the lock.
func BenchmarkContended(b *testing.B) {
	q := workqueue.New(workqueue.Options[types.NamespacedName]{})
	for _, key := range keys(1024) {
		q.Add(key)
	}
	b.ReportAllocs()
	b.SetParallelism((8 + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			key, _ := q.Get(b.Context())
			q.Done(key)
			q.Add(key)
		}
	})
}

// BenchmarkWake is an Add that wakes one of eight blocked workers, until that worker's Done.
func BenchmarkWake(b *testing.B) {
	done := make(chan struct{})
	q := workqueue.New(workqueue.Options[types.NamespacedName]{
		Observer: &workqueue.Observer[types.NamespacedName]{
			OnDone: func(types.NamespacedName, time.Duration) { done <- struct{}{} },
		},
	})
	wait := startWorkers(q, 8)
	all := keys(1024)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q.Add(all[i%len(all)])
		<-done
	}
	q.ShutDown()
	wait()
}

// BenchmarkHotKey adds one key from eight goroutines, while eight workers get the key as often as
// they can: most adds are merged.
func BenchmarkHotKey(b *testing.B) {
	q := workqueue.New(workqueue.Options[types.NamespacedName]{})
	wait := startWorkers(q, 8)
	key := keys(1)[0]
	b.ReportAllocs()
	b.SetParallelism((8 + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			q.Add(key)
		}
	})
	q.ShutDown()
	wait()
}

// BenchmarkAddAfter100k is AddAfter for 100,000 keys with unordered times, and the ShutDown that
// discards them. Its allocations are the cost of 100,000 delayed keys.
func BenchmarkAddAfter100k(b *testing.B) {
	all := keys(100_000)
	times := rand.Perm(len(all))
	b.ReportAllocs()
	for b.Loop() {
		q := workqueue.New(workqueue.Options[types.NamespacedName]{})
		for i, key := range all {
			q.AddAfter(key, time.Hour+time.Duration(times[i])*time.Millisecond)
		}
		q.ShutDown()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(all)), "ns/key")
}

// startWorkers starts workers that only call Get and Done, and returns a function that waits for
// them.
func startWorkers(q *workqueue.Queue[types.NamespacedName], n int) (wait func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			serve(q, func(types.NamespacedName) {})
		})
	}
	return wg.Wait
}
