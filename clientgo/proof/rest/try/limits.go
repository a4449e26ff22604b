package main

import (
	"context"
	"fmt"
	"time"

	testing "k8s.io/utils/clock/testing"

	"k8s.io/client-go/util/flowcontrol"
)

// sleeping is a fake clock that advances when its Sleep is called.
type sleeping struct{ *testing.FakeClock }

func (s sleeping) Sleep(d time.Duration) {
	count("slept %v", d)
	s.Step(d)
}

// tryLimits calls rate limiters and back-offs with a clock that does not advance by itself.
func tryLimits() {
	start := time.Unix(1000, 0)
	for _, of := range []struct {
		qps   float32
		burst int
	}{{1, 1}, {10, 3}, {0.5, 2}, {0, 0}, {0, 2}, {-1, 1}, {5, -1}, {1e9, 1}, {0.001, 5}} {
		block(fmt.Sprintf("limiter of %v and %d", of.qps, of.burst), func() {
			clock := testing.NewFakeClock(start)
			l := flowcontrol.NewTokenBucketRateLimiterWithClock(of.qps, of.burst, sleeping{clock})
			line(l.QPS())
			for _, step := range []time.Duration{0, 0, 0, 0, time.Millisecond, 100 * time.Millisecond, time.Second, time.Hour, 0, 0, 0, 0} {
				clock.Step(step)
				line(step, l.TryAccept())
			}
			if of.qps >= 0.5 && of.burst > 0 {
				for range 5 {
					l.Accept()
				}
			}
			printCounts()
			l.Stop()
			line(l.TryAccept())
			passive := flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(of.qps, of.burst, clock)
			line(passive.QPS())
			for range 4 {
				line(passive.TryAccept())
			}
			passive.Stop()
			line(passive.TryAccept())
			l = flowcontrol.NewTokenBucketRateLimiter(of.qps, of.burst)
			line(l.QPS(), l.TryAccept(), flowcontrol.NewTokenBucketPassiveRateLimiter(of.qps, of.burst).TryAccept())
			ctx, cancel := context.WithCancel(background)
			cancel()
			line(kindOf(l.Wait(ctx)))
			ctx, cancel = context.WithTimeout(background, time.Millisecond)
			defer cancel()
			if of.qps < 100 {
				_ = l.TryAccept()
				_ = l.TryAccept()
				_ = l.TryAccept()
				line(kindOf(l.Wait(ctx)))
			}
		})
	}
	block("limiters that are fakes", func() {
		always := flowcontrol.NewFakeAlwaysRateLimiter()
		line(always.TryAccept(), always.QPS(), kindOf(always.Wait(background)))
		always.Accept()
		always.Stop()
		always.Stop()
		line(always.TryAccept())
		ctx, cancel := context.WithCancel(background)
		cancel()
		line(kindOf(always.Wait(ctx)))
		never := flowcontrol.NewFakeNeverRateLimiter()
		line(never.TryAccept(), never.QPS())
		ctx, cancel = context.WithTimeout(background, time.Millisecond)
		defer cancel()
		line(kindOf(never.Wait(ctx)))
		never.Stop()
		never.Accept()
		line(never.TryAccept(), kindOf(never.Wait(background)))
	})
	for _, of := range [][2]time.Duration{{time.Second, 10 * time.Second}, {0, 0}, {time.Second, time.Second}, {2 * time.Second, time.Second}, {0, time.Second}, {-1, time.Second}, {time.Second, time.Duration(1<<63 - 1)}} {
		block(fmt.Sprintf("back-off of %v to %v", of[0], of[1]), func() {
			clock := testing.NewFakeClock(start)
			for _, b := range []*flowcontrol.Backoff{flowcontrol.NewFakeBackOff(of[0], of[1], clock), flowcontrol.NewFakeBackOffWithJitter(of[0], of[1], clock, 0)} {
				shown := func(what string) {
					line(what, b.Get("a"), b.Get("b"), b.IsInBackOffSince("a", clock.Now()), b.IsInBackOffSince("a", clock.Now().Add(-time.Second)), b.IsInBackOffSinceUpdate("a", clock.Now()), b.IsInBackOffSinceUpdate("b", clock.Now()))
				}
				shown("new")
				for range 6 {
					b.Next("a", clock.Now())
					shown("next")
				}
				for _, step := range []time.Duration{500 * time.Millisecond, time.Second, 8 * time.Second, 12 * time.Second, time.Hour} {
					clock.Step(step)
					shown("after " + step.String())
					b.GC()
					shown("collected")
					b.Next("b", clock.Now())
					b.Next("b", clock.Now().Add(-time.Minute))
					shown("another")
				}
				b.Next("a", clock.Now())
				b.Reset("a")
				shown("reset")
				b.Reset("unknown")
				b.Next("a", clock.Now())
				b.DeleteEntry("a")
				b.DeleteEntry("unknown")
				shown("deleted")
				line(b.Get("unknown"), b.IsInBackOffSince("unknown", clock.Now()))
				b.HasExpiredFunc = func(event, last time.Time, _ time.Duration) bool {
					return event.Sub(last) > time.Second
				}
				for _, step := range []time.Duration{0, time.Second, 2 * time.Second, time.Second, time.Hour} {
					clock.Step(step)
					b.Next("a", clock.Now())
					b.Next("b", clock.Now().Add(-2*time.Second))
					shown("own")
					b.GC()
					shown("own collected")
				}
			}
			jittered := flowcontrol.NewFakeBackOffWithJitter(of[0], of[1], clock, 0.5)
			jittered.Next("a", clock.Now())
			line(jittered.Get("a") >= 0 || of[0] < 0, jittered.Get("a") <= 3*max(of[0], of[1])/2 || of[1] > time.Hour)
			line(flowcontrol.NewBackOff(of[0], of[1]).Get("a"), flowcontrol.NewBackOffWithJitter(of[0], of[1], 1).Get("a"))
		})
	}
}
