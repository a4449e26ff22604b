//lint:file-ignore SA1019 what is deprecated has to work

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// recordingBackoff is a back-off that records its calls, and never waits.
type recordingBackoff struct{ wait time.Duration }

func (i *recordingBackoff) UpdateBackoffWithContext(_ context.Context, u *url.URL, err error, code int) {
	count("update %v %t %d", u, err != nil, code)
}

func (i *recordingBackoff) CalculateBackoffWithContext(_ context.Context, u *url.URL) time.Duration {
	count("calculate %v", u)
	return i.wait
}

func (i *recordingBackoff) SleepWithContext(_ context.Context, d time.Duration) { count("sleep %v", d) }

// contextFreeBackoff is a back-off whose methods take no contexts.
type contextFreeBackoff struct{ recordingBackoff }

func (o *contextFreeBackoff) UpdateBackoff(u *url.URL, err error, code int) {
	count("old update %v %t %d", u, err != nil, code)
}

func (o *contextFreeBackoff) CalculateBackoff(u *url.URL) time.Duration {
	count("old calculate %v", u)
	return o.wait
}

func (o *contextFreeBackoff) Sleep(d time.Duration) { count("old sleep %v", d) }

// limiter is a rate limiter that records its calls.
type limiter struct {
	err error
	n   int
}

func (l *limiter) TryAccept() bool { count("try"); return true }
func (l *limiter) Accept()         { count("accept") }
func (l *limiter) Stop()           { count("stop") }
func (l *limiter) QPS() float32    { return 7 }
func (l *limiter) Wait(context.Context) error {
	count("wait")
	if l.n--; l.n == 0 {
		return l.err
	}
	return nil
}

// warningRecorder records warnings.
type warningRecorder struct{ name string }

func (h warningRecorder) HandleWarningHeader(code int, agent, text string) {
	count("warned %s %d %q %q", h.name, code, agent, text)
}

type contextWarningRecorder struct{ name string }

type key struct{}

func (h contextWarningRecorder) HandleWarningHeaderWithContext(ctx context.Context, code int, agent, text string) {
	count("warned %s %d %q %q %v", h.name, code, agent, text, ctx.Value(key{}))
}

func tryHooks() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	c := clientOf(s)
	busy := newResponse(503, textType, "busy").withHeader("Retry-After", "2")
	backoffs := map[string]func(*rest.Request) *rest.Request{
		"none":         func(r *rest.Request) *rest.Request { return r.BackOff(nil) },
		"with none":    func(r *rest.Request) *rest.Request { return r.BackOffWithContext(nil) },
		"own":          func(r *rest.Request) *rest.Request { return r.BackOffWithContext(&recordingBackoff{}) },
		"own longer":   func(r *rest.Request) *rest.Request { return r.BackOffWithContext(&recordingBackoff{wait: time.Minute}) },
		"old":          func(r *rest.Request) *rest.Request { return r.BackOff(&contextFreeBackoff{}) },
		"own negative": func(r *rest.Request) *rest.Request { return r.BackOffWithContext(&recordingBackoff{wait: -1}) },
		"twice": func(r *rest.Request) *rest.Request {
			return r.BackOffWithContext(&recordingBackoff{}).BackOff(&contextFreeBackoff{})
		},
	}
	for _, name := range sorted(backoffs) {
		for _, code := range []int{200, 204, 302, 404, 409, 429, 500, 503} {
			block(fmt.Sprintf("back-off %s %d", name, code), func() {
				s.setResponses(newResponse(code, textType, ""))
				send(s, func() *rest.Request { return backoffs[name](c.Get().Resource("pods").Name("p")) })
				showStream(backoffs[name](c.Get()))
				printCounts()
				showWatch(backoffs[name](c.Get()))
				printCounts()
			})
		}
		if name == "none" || name == "with none" {
			continue
		}
		block("back-off "+name+" and retries", func() {
			for _, retries := range []int{-1, 0, 1, 2} {
				s.setResponses(busy)
				send(s, func() *rest.Request { return backoffs[name](c.Get().MaxRetries(retries)) })
				showStream(backoffs[name](c.Get().MaxRetries(retries)))
				s.printRequests()
				printCounts()
				showWatch(backoffs[name](c.Get().MaxRetries(retries)))
				s.printRequests()
				printCounts()
				s.setResponses(response{})
				send(s, func() *rest.Request { return backoffs[name](c.Get().MaxRetries(retries)) })
				showStream(backoffs[name](c.Get().MaxRetries(retries)))
				s.printRequests()
				printCounts()
				showWatch(backoffs[name](c.Get().MaxRetries(retries)))
				s.printRequests()
				printCounts()
			}
		})
	}
	for _, e := range []error{nil, errProgram, context.Canceled, context.DeadlineExceeded, fmt.Errorf("wrapped: %w", context.Canceled), errors.New("")} {
		for _, n := range []int{1, 2, 3} {
			block(fmt.Sprintf("limiter %v after %d", e, n), func() {
				s.setResponses(busy)
				send(s, func() *rest.Request {
					return c.Get().MaxRetries(2).BackOffWithContext(&recordingBackoff{}).Throttle(&limiter{e, n})
				})
				showStream(c.Get().MaxRetries(2).BackOffWithContext(&recordingBackoff{}).Throttle(&limiter{e, n}))
				s.printRequests()
				printCounts()
				showWatch(c.Get().MaxRetries(2).BackOffWithContext(&recordingBackoff{}).Throttle(&limiter{e, n}))
				s.printRequests()
				printCounts()
			})
		}
	}
	block("limiters", func() {
		s.setResponses(newResponse(200, textType, "fine"))
		send(s, func() *rest.Request { return c.Get().Throttle(&limiter{}).Throttle(nil) })
		l := &limiter{}
		limited := clientOf(s, func(c *rest.Config) { c.RateLimiter = l })
		line(limited.GetRateLimiter() == flowcontrol.RateLimiter(l), (*rest.RESTClient)(nil).GetRateLimiter() == nil)
		send(s, func() *rest.Request { return limited.Get() })
		send(s, func() *rest.Request { return limited.Get().Throttle(nil) })
		send(s, func() *rest.Request { return limited.Get().Name("") })
		send(s, func() *rest.Request { return limited.Post().Namespace("").Name("x") })
		for _, limits := range []struct {
			qps   float32
			burst int
		}{{0, 0}, {-1, 0}, {-1, 5}, {3, 0}, {3, 7}, {0, 7}, {0.5, 1}, {5, -1}} {
			of := clientOf(s, func(c *rest.Config) { c.QPS, c.Burst = limits.qps, limits.burst }).GetRateLimiter()
			if of == nil {
				line(limits, "no limit")
				continue
			}
			burst := 0
			for of.TryAccept() && burst < 100 {
				burst++
			}
			line(limits, of.QPS(), burst)
		}
	})
}
