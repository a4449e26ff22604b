package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/metrics"
)

// counts records the calls of the request metrics in order.
var counts struct {
	mu    sync.Mutex // guards following
	calls []string
}

func count(format string, args ...any) {
	counts.mu.Lock()
	defer counts.mu.Unlock()
	counts.calls = append(counts.calls, fmt.Sprintf(format, args...))
}

// resetCounts drops the recorded calls.
func resetCounts() {
	counts.mu.Lock()
	defer counts.mu.Unlock()
	counts.calls = nil
}

// printCounts prints the metric calls since the last call of printCounts.
func printCounts() {
	counts.mu.Lock()
	defer counts.mu.Unlock()
	line("counted", strings.Join(counts.calls, ", "))
	counts.calls = nil
}

type (
	latency  string
	resolver struct{}
	sizes    string
	results  struct{}
	repeats  struct{}
	calls    struct{}
	policies struct{}
	created  struct{}
)

func (l latency) Observe(ctx context.Context, verb string, u url.URL, took time.Duration) {
	count("%s %s %s %t", string(l), verb, u.String(), took >= 0)
}

func (resolver) Observe(ctx context.Context, host string, took time.Duration) {
	count("resolved %s", host)
}

func (s sizes) Observe(ctx context.Context, verb, host string, size float64) {
	count("%s %s %s %v", string(s), verb, host, size)
}

func (results) Increment(ctx context.Context, code, method, host string) {
	count("result %s %s %s", code, method, host)
}

func (repeats) IncrementRetry(ctx context.Context, code, method, host string) {
	count("retry %s %s %s", code, method, host)
}

func (calls) Increment(code int, status string) { count("exec %d %s", code, status) }
func (policies) Increment(status string)        { count("policy %s", status) }

// countTransports is set while the number of cached transports is predictable. At other times the
// garbage collector may remove unused transports.
var countTransports atomic.Bool

func (created) Increment(result string) {
	if countTransports.Load() {
		count("transport %s", result)
	}
}

func countAll() {
	metrics.Register(metrics.RegisterOpts{
		RequestLatency: latency("latency"), RateLimiterLatency: latency("limited"), ResolverLatency: resolver{},
		RequestSize: sizes("sent"), ResponseSize: sizes("received"), RequestResult: results{}, RequestRetry: repeats{},
		ExecPluginCalls: calls{}, ExecPluginPolicyCalls: policies{}, TransportCreateCalls: created{},
		RegisterFn: func() { count("registered") },
	})
}
