package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// waits are values of the header Retry-After.
var waits = []string{"0", "1", "2", "-1", "+1", "007", "1.5", "1s", " 1 ", "", "abc", "99999999999999999999", "9223372036", "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2115 07:28:00 GMT", "0x1", "1,2", "１"}

func tryRetries() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	c := clientOf(s, disableKeepAlives)
	for _, code := range codes {
		for _, wait := range waits {
			if code != 429 && code != 500 && code != 503 && wait != "0" && wait != "1" {
				continue
			}
			block(fmt.Sprintf("retry after %d %q", code, wait), func() {
				for _, verb := range []string{"GET", "POST"} {
					a := newResponse(code, textType, "busy").withHeader("Retry-After", wait)
					if code == 204 || code == 304 {
						a.body = ""
					}
					s.setResponses(a, a, newResponse(200, jsonType, ""))
					r := func() *rest.Request { return c.Verb(verb).BackOffWithContext(&recordingBackoff{}).Resource("pods") }
					sendOnce(s, r())
					printCounts()
					s.setResponses(a)
					line(kindOf(r().MaxRetries(2).Do(background).Error()))
					s.printRequests()
					s.setResponses(a, a, newResponse(200, jsonType, ""))
					showStream(r())
					s.printRequests()
					s.setResponses(a, a, newResponse(200, jsonType, ""))
					showWatch(r())
					s.printRequests()
					resetCounts()
				}
			})
		}
	}
	for _, retries := range []int{-5, 0, 1, 3, 12} {
		block(fmt.Sprintf("retries at most %d", retries), func() {
			for _, a := range []response{
				newResponse(429, textType, "busy").withHeader("Retry-After", "0"), newResponse(500, jsonType, encoded(jsonType, failure)).withHeader("Retry-After", "0"), {}, {reset: true},
				newResponse(503, protobufType, encoded(protobufType, failure)).withHeader("Retry-After", "0").withHeader("X-Kubernetes-Pf-Flowschema-Uid", "uid"),
			} {
				for _, verb := range []string{"GET", "DELETE"} {
					s.setResponses(a)
					r := c.Verb(verb).BackOffWithContext(&recordingBackoff{}).MaxRetries(retries)
					show(r.Do(background))
					printCounts()
					s.printRequests()
					show(r.Do(background))
					s.printRequests()
					s.setResponses(a)
					showStream(r)
					printCounts()
					s.setResponses(a)
					showWatch(r)
					printCounts()
				}
			}
		})
	}
	mixed := map[string][]response{
		"lost then busy then fine": {{}, newResponse(429, textType, "busy").withHeader("Retry-After", "0"), newResponse(200, textType, "fine")},
		"busy then lost":           {newResponse(429, textType, "busy").withHeader("Retry-After", "0"), {}},
		"busy then failing":        {newResponse(429, textType, "busy").withHeader("Retry-After", "0"), newResponse(403, jsonType, encoded(jsonType, failure))},
		"lost then failing":        {{}, newResponse(404, textType, "failing")},
		"busy then bad":            {newResponse(503, textType, "busy").withHeader("Retry-After", "0"), {raw: "garbage\r\n\r\n"}},
		"busy then cut":            {newResponse(503, textType, "busy").withHeader("Retry-After", "0"), {raw: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"}},
		"lost then bad":            {{}, {raw: "garbage\r\n\r\n"}},
		"a long answer":            {newResponse(503, textType, strings.Repeat("x", 1<<16)).withHeader("Retry-After", "0"), newResponse(200, textType, "fine")},
		"switching":                {newResponse(503, textType, "a").withHeader("Retry-After", "0"), newResponse(500, textType, "b").withHeader("Retry-After", "0"), newResponse(429, textType, "c").withHeader("Retry-After", "0"), newResponse(500, textType, "d")},
		"redirect then busy":       {newResponse(302, textType, "").withHeader("Location", "/x"), newResponse(503, textType, "busy").withHeader("Retry-After", "0"), newResponse(200, textType, "fine")},
		"two headers":              {newResponse(503, textType, "busy").withHeader("Retry-After", "0", "x"), newResponse(200, textType, "fine")},
		"two headers, odd first":   {newResponse(503, textType, "busy").withHeader("Retry-After", "x", "0"), newResponse(200, textType, "fine")},
	}
	for _, name := range sorted(mixed) {
		block("retries "+name, func() {
			for _, verb := range []string{"GET", "PUT"} {
				r := func() *rest.Request { return c.Verb(verb).BackOffWithContext(&recordingBackoff{}).MaxRetries(3) }
				s.setResponses(mixed[name]...)
				show(r().Do(background))
				s.printRequests()
				printCounts()
				s.setResponses(mixed[name]...)
				sendOnce(s, r())
				printCounts()
				s.setResponses(mixed[name]...)
				showStream(r())
				s.printRequests()
				printCounts()
				s.setResponses(mixed[name]...)
				showWatch(r())
				s.printRequests()
				printCounts()
			}
		})
	}
	block("a wait is waited for", func() {
		for _, a := range []response{newResponse(429, textType, "busy").withHeader("Retry-After", "1"), {}} {
			s.setResponses(a, newResponse(200, textType, "fine"))
			start := time.Now()
			sendOnce(s, c.Get())
			line(time.Since(start) > 900*time.Millisecond, time.Since(start) < 3*time.Second)
		}
	})
	block("a wait ends with its context", func() {
		for _, a := range []response{newResponse(429, textType, "busy").withHeader("Retry-After", "60"), newResponse(503, jsonType, encoded(jsonType, failure)).withHeader("Retry-After", "60")} {
			for name, fn := range map[string]func(*rest.Request){"deadline": func(r *rest.Request) {}} {
				s.setResponses(a)
				ctx, cancel := context.WithTimeout(background, 100*time.Millisecond)
				r := c.Get()
				fn(r)
				line(name, kindOf(r.Do(ctx).Error()))
				_, err := c.Get().Stream(ctx)
				line(kindOf(err))
				_, err = c.Get().Watch(ctx)
				line(kindOf(err))
				cancel()
			}
			s.setResponses(a)
			line(kindOf(c.Get().Timeout(100 * time.Millisecond).Do(background).Error()))
			ctx, cancel := context.WithCancel(background)
			time.AfterFunc(100*time.Millisecond, cancel)
			_, err := c.Get().Stream(ctx)
			line(kindOf(err))
			ctx, cancel = context.WithCancel(background)
			time.AfterFunc(100*time.Millisecond, cancel)
			_, err = c.Get().Watch(ctx)
			line(kindOf(err))
		}
	})
	block("retryable errors", func() {
		fn := rest.IsRetryableErrorFunc(func(_ *http.Request, err error) bool { return err == errProgram }) //nolint:errorlint // the same value
		line(fn.IsErrorRetryable(nil, errProgram), fn.IsErrorRetryable(nil, nil))
		line(kindOf(&rest.RequestConstructionError{Err: errProgram}), kindOf((&rest.RequestConstructionError{}).Err))
	})
}
