package conformance

import (
	"runtime"
	"testing/synctest"
	"time"
)

// workQueueCase is a test of one contract.
type workQueueCase struct {
	name string
	run  func(*workQueueRig)
}

var workQueueCases = []workQueueCase{
	{"a key that is added twice is handed out once", func(q *workQueueRig) { // WQ-1
		q.Add("a")
		q.Add("a")
		q.requireKeys("a")
		q.requireEmpty()
	}},
	{"a Get waits for a key", func(q *workQueueRig) { // WQ-2
		first, second := q.get(), q.get()
		q.requireBlocked(first)
		q.requireBlocked(second)
		q.Add("a")
		q.must(first.hasReturned() != second.hasReturned(), "one key must wake one Get")
		q.Add("b")
		q.requireReturned(first)
		q.requireReturned(second)
	}},
	{"keys come in the order of their first Add", func(q *workQueueRig) { // WQ-5
		for _, key := range []string{"a", "b", "c", "b", "a"} {
			q.Add(key)
		}
		q.requireKeys("a", "b", "c")
	}},
	{"a key is with one worker, and runs once more if it was added", func(q *workQueueRig) {
		// WQ-4, G9
		q.Add("a")
		q.requireGot(q.get(), "a")
		q.Add("a")
		q.Add("a")
		second := q.get()
		q.requireBlocked(second)
		q.Done("a")
		q.requireGot(second, "a")
		q.Done("a")
		q.requireEmpty()
	}},
	{"a key that is added while it is processed goes to the end", func(q *workQueueRig) { // WQ-5
		q.Add("a")
		q.requireGot(q.get(), "a")
		q.Add("a")
		q.Add("b")
		q.Done("a")
		q.requireKeys("b", "a")
	}},
	{"keys that workers have are not counted", func(q *workQueueRig) { // WQ-6
		q.Add("a")
		q.Add("b")
		q.must(q.Len() == 2, "there are %d keys, not 2", q.Len())
		q.requireGot(q.get(), "a")
		q.Add("a")
		q.must(q.Len() == 1, "there are %d keys, not 1", q.Len())
	}},
	{"a key without a worker is not queued again by Done", func(q *workQueueRig) { // WQ-9, D2
		q.Add("a")
		q.Done("a")
		q.requireKeys("a")
		q.requireEmpty()
	}},
	{"a ShutDown hands out the rest", func(q *workQueueRig) { // WQ-10
		q.Add("a")
		q.Add("b")
		q.ShutDown()
		q.requireKeys("a", "b")
		q.requireShutDown()
	}},
	{"a ShutDown hands out what was added while processed", func(q *workQueueRig) { // WQ-10, WQ-13
		q.Add("a")
		q.requireGot(q.get(), "a")
		q.Add("a")
		q.ShutDown()
		q.Done("a")
		q.requireKeys("a")
		q.requireShutDown()
	}},
	{"a ShutDown refuses later adds", func(q *workQueueRig) { // WQ-1, WQ-10, WQ-20
		q.ShutDown()
		q.must(q.ShuttingDown(), "ShuttingDown returned false")
		q.Add("a")
		q.AddAfter("b", 0)
		q.AddAfter("c", time.Second)
		q.pass(time.Minute)
		q.requireShutDown()
	}},
	{"a ShutDown releases those who wait for keys", func(q *workQueueRig) { // WQ-2
		first, second := q.get(), q.get()
		q.ShutDown()
		q.requireReturned(first)
		q.requireReturned(second)
		q.must(first.shutDown && second.shutDown, "Get did not return shutdown")
	}},
	{"a ShutDown may come twice", func(q *workQueueRig) { // WQ-10
		q.ShutDown()
		q.ShutDown()
	}},
	{"a ShutDown discards delayed keys", func(q *workQueueRig) { // WQ-26
		q.AddAfter("a", time.Second)
		q.pass(0)
		q.ShutDown()
		q.pass(time.Minute)
		q.requireShutDown()
	}},
	{"a drain waits for processing keys", func(q *workQueueRig) { // WQ-12
		q.Add("a")
		q.requireGot(q.get(), "a")
		drained := q.drain()
		q.requireBlocked(drained)
		q.Done("a")
		q.requireReturned(drained)
		q.requireShutDown()
	}},
	{"a drain waits for queued keys", func(q *workQueueRig) { // WQ-17, D1
		q.Add("a")
		drained := q.drain()
		q.requireBlocked(drained)
		q.requireKeys("a")
		q.requireReturned(drained)
	}},
	{"a drain releases all who wait for it", func(q *workQueueRig) { // WQ-15, D3
		q.Add("a")
		q.requireGot(q.get(), "a")
		first, second := q.drain(), q.drain()
		q.Done("a")
		q.requireReturned(first)
		q.requireReturned(second)
	}},
	{"a drain leaves nothing behind", func(q *workQueueRig) { // WQ-26, D4
		q.AddAfter("a", time.Hour)
		q.pass(0)
		q.ShutDownWithDrain()
		synctest.Wait()
		before := runtime.NumGoroutine()
		q.pass(time.Minute)
		now := runtime.NumGoroutine()
		q.must(now == before, "%d goroutines have ended since", before-now)
	}},
	{"a delayed key comes at its time", func(q *workQueueRig) { // WQ-20
		q.AddAfter("a", time.Second)
		q.pass(time.Second - 1)
		q.requireEmpty()
		q.pass(1)
		q.requireKeys("a")
		q.pass(time.Hour)
		q.requireEmpty()
	}},
	{"a delayed key wakes a waiting Get", func(q *workQueueRig) { // WQ-2, WQ-20
		w := q.get()
		q.AddAfter("a", time.Second)
		q.requireBlocked(w)
		q.pass(time.Second)
		q.requireGot(w, "a")
	}},
	{"a non-positive delay is an Add", func(q *workQueueRig) { // WQ-20
		q.AddAfter("a", 0)
		q.AddAfter("b", -time.Second)
		q.requireKeys("a", "b")
	}},
	{"of several delays the earliest applies", func(q *workQueueRig) { // WQ-21
		q.AddAfter("a", time.Second)
		q.AddAfter("a", time.Minute)
		q.AddAfter("b", time.Minute)
		q.AddAfter("b", 2*time.Second)
		q.pass(time.Second)
		q.requireKeys("a")
		q.pass(time.Second)
		q.requireKeys("b")
		q.pass(time.Hour)
		q.requireEmpty()
	}},
	{"a delay begins anew when the last has passed", func(q *workQueueRig) { // WQ-21
		for range 2 {
			q.AddAfter("a", time.Second)
			q.pass(time.Second)
			q.requireKeys("a")
		}
	}},
	{"delayed keys come in the order of their times", func(q *workQueueRig) { // WQ-22
		q.AddAfter("c", 3*time.Second)
		q.AddAfter("a", time.Second)
		q.AddAfter("b", 2*time.Second)
		q.pass(time.Minute)
		q.requireKeys("a", "b", "c")
	}},
	{"an Add leaves a delay as it is", func(q *workQueueRig) { // WQ-23
		q.AddAfter("a", time.Second)
		q.pass(0)
		q.Add("a")
		q.requireKeys("a")
		q.requireEmpty()
		q.pass(time.Second)
		q.requireKeys("a")
	}},
	{"a delay leaves a key that is ready as it is", func(q *workQueueRig) { // WQ-23
		q.Add("a")
		q.AddAfter("a", time.Second)
		q.requireKeys("a")
		q.requireEmpty()
		q.pass(time.Second)
		q.requireKeys("a")
	}},
	{"a delay that passes while the key is processed gives one more run", func(q *workQueueRig) {
		// WQ-4, WQ-20
		q.Add("a")
		q.requireGot(q.get(), "a")
		q.AddAfter("a", time.Second)
		q.pass(time.Minute)
		w := q.get()
		q.requireBlocked(w)
		q.Done("a")
		q.requireGot(w, "a")
	}},
	{"failures are delayed longer and longer", func(q *workQueueRig) { // WQ-30, WQ-31
		for n, wait := range []time.Duration{FirstRetry, 2 * FirstRetry, 4 * FirstRetry} {
			q.AddRateLimited("a")
			q.pass(wait - 1)
			q.requireEmpty()
			q.pass(1)
			q.requireKeys("a")
			q.must(q.NumRequeues("a") == n+1, "after %d failures, NumRequeues is %d", n+1, q.NumRequeues("a"))
		}
		q.Forget("a")
		q.must(q.NumRequeues("a") == 0, "Forget did not reset NumRequeues")
		q.AddRateLimited("a")
		q.pass(FirstRetry)
		q.requireKeys("a")
	}},
}
