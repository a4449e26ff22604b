package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	testing "k8s.io/utils/clock/testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

func tryBackoffs() {
	urls := map[string]*url.URL{}
	for _, u := range []string{"http://a/x", "http://a/y", "https://a:1/x", "http://b", "/path", ""} {
		urls[u], _ = url.Parse(u)
	}
	for _, failure := range []error{nil, errProgram} {
		block(fmt.Sprintf("url back-off %v", failure), func() {
			clock := testing.NewFakeClock(time.Unix(1, 0))
			b := &rest.URLBackoff{Backoff: flowcontrol.NewFakeBackOff(time.Second, 20*time.Second, clock)}
			for _, code := range []int{0, 200, 301, 400, 401, 404, 409, 429, 499, 500, 501, 503, 504, 599, 600, -1} {
				for range 2 {
					b.UpdateBackoff(urls["http://a/x"], failure, code)
					line(code, b.CalculateBackoff(urls["http://a/x"]), b.CalculateBackoff(urls["http://a/y"]), b.CalculateBackoff(urls["https://a:1/x"]), b.CalculateBackoff(urls["http://b"]))
				}
			}
			for range 7 {
				b.UpdateBackoffWithContext(background, urls["http://a/y"], failure, 500)
				line(b.CalculateBackoffWithContext(background, urls["http://a/x"]))
			}
			clock.SetTime(clock.Now().Add(30 * time.Second))
			line(b.CalculateBackoff(urls["http://a/x"]))
			b.UpdateBackoff(urls["http://a/x"], failure, 500)
			line(b.CalculateBackoff(urls["http://a/x"]))
			clock.SetTime(clock.Now().Add(time.Hour))
			b.UpdateBackoff(urls["http://a/x"], failure, 500)
			line(b.CalculateBackoff(urls["http://a/x"]))
			for _, name := range sorted(urls) {
				printPanics(func() {
					b.UpdateBackoff(urls[name], failure, 503)
					line(name, b.CalculateBackoff(urls[name]))
				})
			}
			b.Disable()
			b.UpdateBackoff(urls["http://a/x"], failure, 500)
			line(b.CalculateBackoff(urls["http://a/x"]))
			b.Sleep(-1)
			b.Sleep(0)
			b.SleepWithContext(background, 0)
		})
	}
	block("url back-off of no url", func() {
		printPanics(func() {
			b := &rest.URLBackoff{Backoff: flowcontrol.NewBackOff(time.Second, time.Minute)}
			b.UpdateBackoff(nil, nil, 500)
			line(b.CalculateBackoff(nil))
		})
	})
	block("no back-off", func() {
		n := &rest.NoBackoff{}
		n.UpdateBackoff(nil, errProgram, 500)
		n.UpdateBackoffWithContext(background, nil, errProgram, 500)
		line(n.CalculateBackoff(nil), n.CalculateBackoffWithContext(background, urls["http://b"]))
		start := time.Now()
		n.Sleep(20 * time.Millisecond)
		n.SleepWithContext(background, 20*time.Millisecond)
		n.Sleep(-1)
		line(time.Since(start) >= 40*time.Millisecond, time.Since(start) < time.Second)
		printPanics(func() { (&rest.URLBackoff{}).UpdateBackoff(urls["http://b"], errors.New("x"), 500) })
		printPanics(func() { line((&rest.URLBackoff{}).CalculateBackoff(urls["http://b"])) })
	})
	// The back-off is configured by environment variables.
	s := serve(newResponse(500, textType, "failing"))
	defer s.Close()
	for _, of := range [][2]string{{"", ""}, {"1", ""}, {"", "1"}, {"x", "1"}, {"0", "0"}, {"1", "2"}, {"1.5", "2"}, {"-1", "2"}} {
		block(fmt.Sprintf("back-off of the environment %q", of), func() {
			_ = os.Setenv("KUBE_CLIENT_BACKOFF_BASE", of[0])
			_ = os.Setenv("KUBE_CLIENT_BACKOFF_DURATION", of[1])
			defer func() {
				_ = os.Unsetenv("KUBE_CLIENT_BACKOFF_BASE")
				_ = os.Unsetenv("KUBE_CLIENT_BACKOFF_DURATION")
			}()
			c := clientOf(s.setResponses(newResponse(500, textType, "failing")))
			start := time.Now()
			line(kindOf(c.Get().Do(background).Error()))
			line(kindOf(c.Get().Do(background).Error()))
			line(time.Since(start) < 500*time.Millisecond)
			s.setResponses(newResponse(503, textType, "busy").withHeader("Retry-After", "0"))
			r := c.Get().MaxRetries(1)
			start = time.Now()
			line(kindOf(r.Do(background).Error()))
			line(time.Since(start) < 500*time.Millisecond)
			s.printRequestCount()
		})
	}
}
