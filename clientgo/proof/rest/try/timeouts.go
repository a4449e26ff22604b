package main

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"time"

	"k8s.io/client-go/rest"
)

// lookups matches errors of the resolver, which differ between machines.
var lookups = regexp.MustCompile(`lookup .*`)

// hangingResponse returns a response that sends the beginning of a body, or nothing, and then waits
// until the client closes the connection.
func hangingResponse(start string, then func()) response {
	return response{fn: func(w http.ResponseWriter, r *http.Request) {
		if start != "" {
			w.Header().Set("Content-Type", jsonType)
			_, _ = io.WriteString(w, start)
			_ = http.NewResponseController(w).Flush()
		}
		then()
		<-r.Context().Done()
	}}
}

// starts are the bytes that servers send before they hang.
var starts = map[string]string{
	"no answer": "", "half": `{"kind":`, "event": `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"}}}`,
}

// sendFuncs are functions that send a request and read the response, each with other methods.
var sendFuncs = []func(context.Context, *rest.Request){
	func(ctx context.Context, r *rest.Request) { line("do", kindOf(r.Do(ctx).Error())) },
	func(ctx context.Context, r *rest.Request) {
		raw, err := r.DoRaw(ctx)
		line("doraw", short(raw), kindOf(err))
	},
	streamed, printWatch,
}

// shortWait is long enough for a server to begin a response.
const shortWait = 200 * time.Millisecond

// tryTimeouts ends requests with contexts and timeouts.
func tryTimeouts() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	for name, ends := range map[string]func(context.Context) (context.Context, func()){
		"cancel": func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancel(ctx)
			return ctx, cancel
		},
		"cause": func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)
			return ctx, func() { cancel(errProgram) }
		},
	} {
		for _, start := range sorted(starts) {
			block("time "+name+" "+start, func() {
				for _, way := range sendFuncs {
					ctx, cancel := ends(background)
					s.setResponses(hangingResponse(starts[start], func() { time.AfterFunc(shortWait/4, cancel) }))
					way(ctx, clientOf(s).Get().BackOffWithContext(&recordingBackoff{}).MaxRetries(1))
					cancel()
					s.printRequestCount()
					printCounts()
				}
			})
		}
	}
	contexts := map[string]func() (context.Context, context.CancelFunc){
		"canceled": func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(background)
			cancel()
			return ctx, cancel
		},
		"over":     func() (context.Context, context.CancelFunc) { return context.WithDeadline(background, time.Unix(1, 0)) },
		"deadline": func() (context.Context, context.CancelFunc) { return context.WithTimeout(background, shortWait) },
		"forever": func() (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(background, 3*shortWait, errProgram)
		},
	}
	settings := []struct {
		name            string
		timeout, config time.Duration
	}{{"none", 0, 0}, {"request", shortWait, 0}, {"client", 0, shortWait}, {"client sooner", time.Minute, shortWait}, {"negative", -1, 0}, {"negative client", 0, -1}}
	for _, name := range sorted(contexts) {
		for _, of := range settings {
			if bounded := of.timeout > 0 || of.config > 0; name == "forever" && !bounded || name == "deadline" && (bounded || of.timeout < 0) {
				continue
			}
			block("time "+name+" "+of.name, func() {
				for _, start := range sorted(starts) {
					s.setResponses(hangingResponse(starts[start], func() {}))
					c := clientOf(s, func(c *rest.Config) { c.Timeout = of.config })
					for _, way := range sendFuncs {
						r := c.Get().BackOffWithContext(&recordingBackoff{}).MaxRetries(1)
						if of.timeout != 0 {
							r.Timeout(of.timeout)
						}
						line(start, r.URL())
						ctx, cancel := contexts[name]()
						way(ctx, r)
						cancel()
						if name != "over" && name != "canceled" { // these requests end at once
							s.printRequestCount()
						}
						printCounts()
					}
				}
			})
		}
	}
}
