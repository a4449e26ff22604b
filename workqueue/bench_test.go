package workqueue_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/kinform/kinform/workqueue"
	"k8s.io/apimachinery/pkg/types"
)

// keys returns n distinct keys of the length that pods' names have.
func keys(n int) []types.NamespacedName {
	all := make([]types.NamespacedName, n)
	for i := range all {
		all[i] = types.NamespacedName{Namespace: "production", Name: "frontend-7d4b9c6f5-" + strconv.Itoa(i)}
	}
	return all
}

// BenchmarkCycle is Add, Get, Done on one goroutine: what a key costs without
// contention and without blocking.
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

// BenchmarkWorkers is one producer and eight workers that do nothing, over keys
// that are rarely the same: the cost of the lock and of waking.
func BenchmarkWorkers(b *testing.B) {
	q := workqueue.New(workqueue.Options[types.NamespacedName]{})
	all := keys(1024)
	wait := startWorkers(q, 8)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q.Add(all[i%len(all)])
	}
	q.ShutDown()
	wait()
}

// BenchmarkHotKey is eight producers that add one key, and eight workers: most
// adds are merged.
func BenchmarkHotKey(b *testing.B) {
	q := workqueue.New(workqueue.Options[types.NamespacedName]{})
	wait := startWorkers(q, 8)
	key := keys(1)[0]
	b.ReportAllocs()
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			q.Add(key)
		}
	})
	q.ShutDown()
	wait()
}

// BenchmarkAddAfter is one AddAfter of a new key, or of a known one to an earlier
// time, while 100,000 keys are delayed.
func BenchmarkAddAfter(b *testing.B) {
	all := keys(100_000)
	for _, known := range []bool{false, true} {
		b.Run("known="+strconv.FormatBool(known), func(b *testing.B) {
			q := workqueue.New(workqueue.Options[types.NamespacedName]{})
			defer q.ShutDown()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%len(all) == 0 && !known {
					q.ShutDown()
					q = workqueue.New(workqueue.Options[types.NamespacedName]{})
				}
				key := all[i%len(all)]
				q.AddAfter(key, time.Hour-time.Duration(i)*time.Microsecond)
			}
		})
	}
}

// startWorkers starts workers that only get keys and say done, and returns a
// function that waits for them.
func startWorkers(q *workqueue.Queue[types.NamespacedName], n int) (wait func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for {
				key, err := q.Get(context.Background())
				if err != nil {
					return
				}
				q.Done(key)
			}
		})
	}
	return wg.Wait
}
