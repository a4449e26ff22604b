package demo

import (
	"context"
	"time"

	"github.com/kinform/kinform/apitest"
)

// faultInterval is the time between two faults.
const faultInterval = 600 * time.Millisecond

// injectFaults injects one fault after another until ctx ends. Then it removes the faults that have
// not happened yet.
func injectFaults(ctx context.Context, server *apitest.Server, r report) {
	var injected []*apitest.InjectedFault
	defer func() {
		for _, in := range injected {
			in.Remove()
		}
	}()
	inject := func(f apitest.Fault) { injected = append(injected, server.Inject(f)) }
	faults := []struct {
		what string
		do   func()
	}{
		{"every watch is cut off", func() { server.DropWatches("pods") }},
		{"past changes are forgotten while the watch is cut: the next watch gets 410 Gone", func() {
			// Two watches have to fail: after the first 410, the reflector only retries from the
			// last event.
			inject(apitest.Fault{Verb: "watch", Times: 2, Action: apitest.Expired()})
			server.Compact()
			server.DropWatches("pods")
		}},
		{"the next two watches are answered with 429", func() {
			inject(apitest.Fault{Verb: "watch", Times: 2, Action: apitest.TooManyRequests(time.Second)})
			server.DropWatches("pods")
		}},
		{"the next watch breaks in the middle of a frame", func() {
			inject(apitest.Fault{Verb: "watch", Times: 1, Action: apitest.CutFrame(3)})
			server.DropWatches("pods")
		}},
		{"the next list breaks in the middle, after a 410", func() {
			inject(apitest.Fault{Verb: "list", Times: 1, Action: apitest.CutBody(100_000)})
			// Two watches have to fail: after the first 410, the reflector only retries from the
			// last event.
			inject(apitest.Fault{Verb: "watch", Times: 2, Action: apitest.Expired()})
			server.DropWatches("pods")
		}},
	}
	ticker := time.NewTicker(faultInterval)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		next := faults[n%len(faults)]
		r.fault(next.what)
		next.do()
	}
}
