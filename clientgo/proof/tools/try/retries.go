//lint:file-ignore SA1019 what is deprecated is compared as well

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	testclock "k8s.io/utils/clock/testing"

	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
)

func tryRetries() {
	conflict := errorOfStatus(409, metav1.StatusReasonConflict)
	fails := map[string]error{
		"conflict": conflict, "wrapped conflict": fmt.Errorf("w: %w", conflict), "exists": errorOfStatus(409, metav1.StatusReasonAlreadyExists), "plain": errors.New("x"), "interrupted": wait.ErrorInterrupted(errors.New("cause")),
		"wait timeout": wait.ErrorInterrupted(nil), "canceled": context.Canceled, "status without a reason": errorOfStatus(409, ""), "none": nil,
	}
	for name, err := range fails {
		for _, after := range []int{0, 1, 2, 3, 100} {
			try(fmt.Sprintf("retry: %s, %d times", name, after), func(o *outcome) {
				for _, steps := range []int{-1, 0, 1, 3} {
					backoff := wait.Backoff{Steps: steps, Duration: time.Microsecond, Factor: 1}
					calls := 0
					fn := func() error {
						calls++
						if calls > after {
							return nil
						}
						return err
					}
					result := retry.RetryOnConflict(backoff, fn)
					o.line(steps, calls, kindOf(result), errors.Is(result, conflict), wait.Interrupted(result))
					calls = 0
					asked := 0
					result = retry.OnError(backoff, func(e error) bool { asked++; return e == err && asked < 3 }, fn)
					o.line(steps, calls, asked, kindOf(result), wait.Interrupted(result))
				}
			})
		}
	}
	try("retry: defaults", func(o *outcome) {
		for _, b := range []wait.Backoff{retry.DefaultRetry, retry.DefaultBackoff} {
			o.line(b.Steps, b.Duration, b.Factor, b.Jitter, b.Cap)
		}
		for _, name := range []string{"a function", "what is retriable"} {
			for before := range 3 {
				calls := 0
				o.panics(name+" that panics", func() {
					err := retry.OnError(wait.Backoff{Steps: 2, Duration: time.Microsecond}, func(error) bool {
						if name != "a function" && calls > before {
							panic("x")
						}
						return true
					}, func() error {
						if calls++; name == "a function" && calls > before {
							panic("x")
						}
						return conflict
					})
					o.line(name, before, calls, kindOf(err))
				})
			}
		}
		err := retry.OnError(wait.Backoff{Steps: 5, Duration: time.Millisecond, Factor: 10, Cap: 5 * time.Millisecond}, func(error) bool { return true }, func() error { return conflict })
		o.line(kindOf(err))
		last := errors.New("last")
		calls := 0
		err = retry.OnError(wait.Backoff{Steps: 3, Duration: time.Microsecond}, func(error) bool { return true }, func() error {
			if calls++; calls == 3 {
				return last
			}
			return conflict
		})
		o.line(err == last)
	})
}

func tryLimiters() {
	for _, qps := range []float32{-1, 0, 0.5, 5, 1000} {
		for _, burst := range []int{-1, 0, 1, 3} {
			try(fmt.Sprint("limiter: ", qps, " ", burst), func(o *outcome) {
				clock := testclock.NewFakeClock(time.Unix(1000, 0))
				passive := flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(qps, burst, clock)
				active := flowcontrol.NewTokenBucketRateLimiterWithClock(qps, burst, clock)
				o.line(passive.QPS(), active.QPS())
				for i := range 20 {
					o.line(passive.TryAccept(), active.TryAccept())
					clock.Step(time.Duration(i) * 50 * time.Millisecond)
				}
				passive.Stop()
				active.Stop()
				real := flowcontrol.NewTokenBucketRateLimiter(qps, burst)
				ended, cancel := context.WithCancel(context.Background())
				cancel()
				err := real.Wait(ended)
				o.line(err != nil, errors.Is(err, context.Canceled))
				if qps <= 0 {
					return // the call may wait forever
				}
				limit := 30 * time.Millisecond
				if qps == 1000 {
					limit = 10 * time.Second
				}
				soon, cancel := context.WithTimeout(context.Background(), limit)
				defer cancel()
				for range 5 {
					err = real.Wait(soon)
					o.line(err != nil, kindOfWait(err))
				}
			})
		}
	}
	try("limiter: fakes", func(o *outcome) {
		always, never := flowcontrol.NewFakeAlwaysRateLimiter(), flowcontrol.NewFakeNeverRateLimiter()
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		o.line(always.TryAccept(), always.QPS(), kindOf(always.Wait(ctx)), never.TryAccept(), never.QPS(), never.Wait(ctx) != nil)
		always.Accept()
		done := make(chan struct{})
		go func() { never.Accept(); close(done) }()
		select {
		case <-done:
			o.line("accepted")
		case <-time.After(30 * time.Millisecond):
			o.line("waits")
		}
		always.Stop()
		never.Stop()
		o.line(ends(done))
	})
	for _, jitter := range []float64{0, 1} {
		for _, bounds := range [][2]time.Duration{{time.Second, 8 * time.Second}, {time.Second, time.Second}, {0, time.Second}, {2 * time.Second, time.Second}, {time.Hour, math.MaxInt64}} {
			try(fmt.Sprint("back-off: ", bounds, " ", jitter), func(o *outcome) { tryBackoff(o, bounds[0], bounds[1], jitter) })
		}
	}
	tryQueueLimiters()
}

// kindOfWait returns the properties of a limiter's error that programs test for. It leaves out the
// text, which has times.
func kindOfWait(err error) string {
	if err == nil {
		return "no error"
	}
	return fmt.Sprintf("%T", err)
}

func tryBackoff(o *outcome, initial, most time.Duration, jitter float64) {
	clock := testclock.NewFakeClock(time.Unix(1000, 0))
	b := flowcontrol.NewFakeBackOffWithJitter(initial, most, clock, jitter)
	show := func(what string) {
		d := b.Get("a")
		if jitter == 0 {
			o.line(what, d)
		} else {
			o.line(what, d >= initial || d == 0, d <= most)
		}
		now := clock.Now()
		for _, ago := range []time.Duration{0, initial, most, 3 * most} {
			if jitter == 0 {
				o.line(b.IsInBackOffSince("a", now.Add(-ago)), b.IsInBackOffSinceUpdate("a", now.Add(-ago)))
			}
		}
	}
	show("new")
	for i := range 6 {
		b.Next("a", clock.Now())
		show(fmt.Sprint("next ", i))
		clock.Step(initial / 2)
	}
	show("later")
	clock.Step(most)
	show("after the longest")
	b.Next("a", clock.Now())
	show("next")
	if most < time.Hour {
		clock.Step(2*most + 1)
		show("after twice the longest")
		b.Next("a", clock.Now())
		show("next")
		b.GC()
		show("collected")
		clock.Step(2*most + 1)
		b.GC()
		show("collected later")
	}
	b.Next("a", clock.Now())
	b.Reset("a")
	show("reset")
	b.Next("a", clock.Now())
	show("next")
	b.DeleteEntry("a")
	show("deleted")
	b.Reset("none")
	b.DeleteEntry("none")
	b.HasExpiredFunc = func(time.Time, time.Time, time.Duration) bool { return true }
	b.Next("a", clock.Now())
	b.Next("a", clock.Now())
	show("expires always")
	b.HasExpiredFunc = func(time.Time, time.Time, time.Duration) bool { return false }
	b.Next("a", clock.Now())
	clock.Step(min(100*most, 1000*time.Hour))
	b.Next("a", clock.Now())
	show("expires never")
	b.GC()
	show("collected")
	plain := flowcontrol.NewBackOff(initial, most)
	plain.Next("a", plain.Clock.Now())
	o.line(plain.Get("a"), flowcontrol.NewBackOffWithJitter(initial, most, 1).Get("a"), flowcontrol.NewFakeBackOff(initial, most, clock).Get("a"))
}

func tryQueueLimiters() {
	all := map[string]func() workqueue.RateLimiter{
		"exponential": func() workqueue.RateLimiter {
			return workqueue.NewItemExponentialFailureRateLimiter(time.Millisecond, time.Second)
		},
		"exponential without end": func() workqueue.RateLimiter {
			return workqueue.NewItemExponentialFailureRateLimiter(time.Hour, math.MaxInt64)
		},
		"exponential of nothing":    func() workqueue.RateLimiter { return workqueue.NewItemExponentialFailureRateLimiter(0, time.Second) },
		"exponential below nothing": func() workqueue.RateLimiter { return workqueue.NewItemExponentialFailureRateLimiter(-1, -2) },
		"exponential, max below": func() workqueue.RateLimiter {
			return workqueue.NewItemExponentialFailureRateLimiter(time.Minute, time.Second)
		},
		"fast and slow": func() workqueue.RateLimiter {
			return workqueue.NewItemFastSlowRateLimiter(time.Millisecond, time.Second, 3)
		},
		"slow": func() workqueue.RateLimiter {
			return workqueue.NewItemFastSlowRateLimiter(time.Millisecond, time.Second, 0)
		},
		"default of items": func() workqueue.RateLimiter { return workqueue.DefaultItemBasedRateLimiter() },
		"most of none":     func() workqueue.RateLimiter { return workqueue.NewMaxOfRateLimiter() },
		"most of two": func() workqueue.RateLimiter {
			return workqueue.NewMaxOfRateLimiter(workqueue.NewItemFastSlowRateLimiter(time.Millisecond, time.Second, 3), workqueue.NewItemExponentialFailureRateLimiter(2*time.Millisecond, time.Second))
		},
		"longest": func() workqueue.RateLimiter {
			return workqueue.NewWithMaxWaitRateLimiter(workqueue.NewItemExponentialFailureRateLimiter(time.Millisecond, time.Hour), 10*time.Millisecond)
		},
		"longest of nothing": func() workqueue.RateLimiter {
			return workqueue.NewWithMaxWaitRateLimiter(workqueue.NewItemExponentialFailureRateLimiter(time.Millisecond, time.Hour), 0)
		},
	}
	for name, limiter := range all {
		try("queue limiter: "+name, func(o *outcome) {
			l := limiter()
			for i := range 70 {
				o.line(l.When("a"), l.NumRequeues("a"), l.NumRequeues("b"))
				if i%40 == 30 {
					l.Forget("a")
					l.Forget("none")
					o.line(l.NumRequeues("a"))
				}
			}
			o.line(l.When("b"), l.NumRequeues("b"))
		})
	}
	try("queue limiter: default of controllers", func(o *outcome) {
		l := workqueue.DefaultTypedControllerRateLimiter[string]()
		for range 8 {
			o.line(l.When("a"), l.NumRequeues("a"))
		}
		l.Forget("a")
		o.line(l.NumRequeues("a"))
		for i := range 120 {
			l.When(fmt.Sprint(i))
		}
		o.line(l.When("z") > 5*time.Millisecond)
		_ = workqueue.DefaultControllerRateLimiter()
	})
	for _, c := range []struct{ workers, pieces, chunk int }{{1, 5, 1}, {3, 10, 1}, {10, 3, 1}, {2, 10, 4}, {2, 10, 100}, {4, 0, 1}, {0, 3, 1}, {-1, 3, 1}, {2, -1, 1}, {2, 5, 0}, {2, 5, -1}} {
		try(fmt.Sprint("parallelize: ", c), func(o *outcome) {
			var mu sync.Mutex
			seen := map[int]int{}
			var at, most atomic.Int32
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() {
					if recover() != nil {
						o.line("panics")
					}
				}()
				workqueue.ParallelizeUntil(context.Background(), c.workers, c.pieces, func(piece int) {
					n := at.Add(1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					mu.Lock()
					seen[piece]++
					mu.Unlock()
					time.Sleep(time.Millisecond)
					at.Add(-1)
				}, workqueue.WithChunkSize(c.chunk))
			}()
			select {
			case <-done:
			case <-time.After(map[bool]time.Duration{true: time.Second, false: 20 * time.Second}[c.workers <= 0]):
				o.line("does not return")
			}
			mu.Lock()
			defer mu.Unlock()
			o.line(len(seen), int(most.Load()) <= max(1, c.workers))
			for piece, times := range seen {
				if times != 1 || piece < 0 || piece >= c.pieces {
					o.line("wrong")
				}
			}
		})
	}
	try("parallelize: a context that has ended", func(o *outcome) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		var n atomic.Int32
		workqueue.ParallelizeUntil(ctx, 3, 10, func(int) { n.Add(1) })
		o.line(n.Load())
		ctx, cancel = context.WithCancel(context.Background())
		n.Store(0)
		workqueue.ParallelizeUntil(ctx, 1, 10, func(piece int) {
			if n.Add(1); piece == 3 {
				cancel()
			}
		})
		o.line(n.Load())
		n.Store(0)
		//lint:ignore SA1012 a program may give none
		workqueue.ParallelizeUntil(nil, 2, 4, func(int) { n.Add(1) }) //nolint:staticcheck // as above
		o.line(n.Load())
	})
	try("parallelize: a piece that panics", func(o *outcome) {
		var n atomic.Int32
		workqueue.ParallelizeUntil(context.Background(), 1, 5, func(piece int) {
			if n.Add(1); piece == 1 {
				panic("x")
			}
		})
		o.line(n.Load())
	})
}
