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
	s := serve(with(200, textType, "fine"))
	defer s.Close()
	c := clientOf(s, fresh)
	for _, code := range codes {
		for _, wait := range waits {
			if code != 429 && code != 500 && code != 503 && wait != "0" && wait != "1" {
				continue
			}
			block(fmt.Sprintf("retry after %d %q", code, wait), func() {
				for _, verb := range []string{"GET", "POST"} {
					a := with(code, textType, "busy").plus("Retry-After", wait)
					if code == 204 || code == 304 {
						a.body = ""
					}
					s.answering(a, a, with(200, jsonType, ""))
					r := func() *rest.Request { return c.Verb(verb).BackOffWithContext(&impatient{}).Resource("pods") }
					once(s, r())
					counted()
					s.answering(a)
					line(kindOf(r().MaxRetries(2).Do(background).Error()))
					s.asked()
					s.answering(a, a, with(200, jsonType, ""))
					showStream(r())
					s.asked()
					s.answering(a, a, with(200, jsonType, ""))
					showWatch(r())
					s.asked()
					forget()
				}
			})
		}
	}
	for _, retries := range []int{-5, 0, 1, 3, 12} {
		block(fmt.Sprintf("retries at most %d", retries), func() {
			for _, a := range []answer{
				with(429, textType, "busy").plus("Retry-After", "0"), with(500, jsonType, encoded(jsonType, failure)).plus("Retry-After", "0"), {}, {reset: true},
				with(503, protobufType, encoded(protobufType, failure)).plus("Retry-After", "0").plus("X-Kubernetes-Pf-Flowschema-Uid", "uid"),
			} {
				for _, verb := range []string{"GET", "DELETE"} {
					s.answering(a)
					r := c.Verb(verb).BackOffWithContext(&impatient{}).MaxRetries(retries)
					show(r.Do(background))
					counted()
					s.asked()
					show(r.Do(background))
					s.asked()
					s.answering(a)
					showStream(r)
					counted()
					s.answering(a)
					showWatch(r)
					counted()
				}
			}
		})
	}
	mixed := map[string][]answer{
		"lost then busy then fine": {{}, with(429, textType, "busy").plus("Retry-After", "0"), with(200, textType, "fine")},
		"busy then lost":           {with(429, textType, "busy").plus("Retry-After", "0"), {}},
		"busy then failing":        {with(429, textType, "busy").plus("Retry-After", "0"), with(403, jsonType, encoded(jsonType, failure))},
		"lost then failing":        {{}, with(404, textType, "failing")},
		"busy then bad":            {with(503, textType, "busy").plus("Retry-After", "0"), {raw: "garbage\r\n\r\n"}},
		"busy then cut":            {with(503, textType, "busy").plus("Retry-After", "0"), {raw: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"}},
		"lost then bad":            {{}, {raw: "garbage\r\n\r\n"}},
		"a long answer":            {with(503, textType, strings.Repeat("x", 1<<16)).plus("Retry-After", "0"), with(200, textType, "fine")},
		"switching":                {with(503, textType, "a").plus("Retry-After", "0"), with(500, textType, "b").plus("Retry-After", "0"), with(429, textType, "c").plus("Retry-After", "0"), with(500, textType, "d")},
		"redirect then busy":       {with(302, textType, "").plus("Location", "/x"), with(503, textType, "busy").plus("Retry-After", "0"), with(200, textType, "fine")},
		"two headers":              {with(503, textType, "busy").plus("Retry-After", "0", "x"), with(200, textType, "fine")},
		"two headers, odd first":   {with(503, textType, "busy").plus("Retry-After", "x", "0"), with(200, textType, "fine")},
	}
	for _, name := range sorted(mixed) {
		block("retries "+name, func() {
			for _, verb := range []string{"GET", "PUT"} {
				r := func() *rest.Request { return c.Verb(verb).BackOffWithContext(&impatient{}).MaxRetries(3) }
				s.answering(mixed[name]...)
				show(r().Do(background))
				s.asked()
				counted()
				s.answering(mixed[name]...)
				once(s, r())
				counted()
				s.answering(mixed[name]...)
				showStream(r())
				s.asked()
				counted()
				s.answering(mixed[name]...)
				showWatch(r())
				s.asked()
				counted()
			}
		})
	}
	block("a wait is waited for", func() {
		for _, a := range []answer{with(429, textType, "busy").plus("Retry-After", "1"), {}} {
			s.answering(a, with(200, textType, "fine"))
			start := time.Now()
			once(s, c.Get())
			line(time.Since(start) > 900*time.Millisecond, time.Since(start) < 3*time.Second)
		}
	})
	block("a wait ends with its context", func() {
		for _, a := range []answer{with(429, textType, "busy").plus("Retry-After", "60"), with(503, jsonType, encoded(jsonType, failure)).plus("Retry-After", "60")} {
			for name, fn := range map[string]func(*rest.Request){"deadline": func(r *rest.Request) {}} {
				s.answering(a)
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
			s.answering(a)
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
		fn := rest.IsRetryableErrorFunc(func(_ *http.Request, err error) bool { return err == errMark }) //nolint:errorlint // the very same
		line(fn.IsErrorRetryable(nil, errMark), fn.IsErrorRetryable(nil, nil))
		line(kindOf(&rest.RequestConstructionError{Err: errMark}), kindOf((&rest.RequestConstructionError{}).Err))
	})
}
