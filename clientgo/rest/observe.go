package rest

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net/http/httptrace"
	"net/url"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"

	"k8s.io/client-go/tools/metrics"
)

// A wait for the rate limiter is logged if it is longer than longThrottle, and at the default
// verbosity if it is longer than extraThrottle.
const (
	longThrottle  = 50 * time.Millisecond
	extraThrottle = time.Second
)

// lastThrottleLog is the time of the last log line about a wait at the default verbosity, in
// nanoseconds since 1970.
var lastThrottleLog atomic.Int64

// logWait logs a wait for the rate limiter. Long waits are logged at verbosity 3. It logs very long
// waits at the default verbosity, but not all of them. In a program that sends too many requests,
// every request waits.
func (r *Request) logWait(ctx context.Context, took time.Duration, reason string) {
	log, about := klog.FromContext(ctx), []any{"delay", took, "reason", reason, "verb", r.verb, "URL", r.URL().String()}
	const text = "Waited before sending request"
	log.V(3).Info(text, about...)
	if took <= extraThrottle {
		return
	}
	every := 10 * time.Second
	if log.V(2).Enabled() {
		log, every = log.V(2), time.Second
	}
	now, last := time.Now().UnixNano(), lastThrottleLog.Load()
	if since := time.Duration(now - last); since >= 0 && since < every {
		return
	}
	if lastThrottleLog.CompareAndSwap(last, now) {
		log.Info(text, about...)
	}
}

// secretResources are path segments of resources whose bodies contain secrets.
var secretResources = []string{"secrets", "token", "tokenreviews"}

// logRequest logs the body of a request, unless it is a reader.
func (r *Request) logRequest(ctx context.Context) {
	if r.body == nil {
		r.logBody(ctx, "Request Body", r.bytes)
	}
}

// logBody logs a body, or its beginning, at verbosity 8 and above. It logs a body that is not text
// as a hex dump. For resources with secrets it logs only the length, because more people can read
// logs than secrets.
func (r *Request) logBody(ctx context.Context, what string, body []byte) {
	log := klog.FromContext(ctx)
	if !log.V(8).Enabled() {
		return
	}
	log = log.WithCallDepth(callerDepth())
	for part := range strings.SplitSeq(r.URL().Path, "/") {
		if slices.Contains(secretResources, part) {
			log.V(8).Info(what, "body", fmt.Sprintf("[%d bytes, not logged: %s have secrets]", len(body), part))
			return
		}
	}
	text := string(body)
	if bytes.IndexFunc(body, func(r rune) bool { return r < '\n' }) >= 0 {
		text = hex.Dump(body)
	}
	most := 1 << 10
	switch {
	case log.V(10).Enabled():
		most = len(text)
	case log.V(9).Enabled():
		most = 10 << 10
	}
	if over := len(text) - most; over > 0 {
		text = text[:most] + fmt.Sprintf(" [truncated %d chars]", over)
	}
	log.V(8).Info(what, "body", text)
}

// callerDepth returns the number of stack frames of this package between the log call and the
// program. With this number, log lines show the program's file and line.
func callerDepth() (depth int) {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		frame, more := frames.Next()
		if !more || !strings.HasPrefix(frame.Function, "k8s.io/client-go/rest.(") {
			return depth
		}
		depth++
	}
}

// withResolverLatency returns a context whose requests record the duration of DNS lookups in the
// metrics. It has a lock, because a dial and its trace may outlive the request.
func withResolverLatency(ctx context.Context) context.Context {
	var mu sync.Mutex // guards following
	var start time.Time
	var host string
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(info httptrace.DNSStartInfo) {
			mu.Lock()
			defer mu.Unlock()
			start, host = time.Now(), info.Host
		},
		DNSDone: func(httptrace.DNSDoneInfo) {
			mu.Lock()
			took, of := time.Since(start), host
			mu.Unlock()
			metrics.ResolverLatency.Observe(ctx, of, took)
		},
	})
}

// urlTemplate returns the URL with placeholders for names and parameter values. Metrics have a
// series for each URL, so with names there would be a series for each object.
func (r *Request) urlTemplate() url.URL {
	u := *r.URL()
	query := url.Values{}
	for name := range r.params {
		query.Set(name, "{value}")
	}
	if r.timeout != 0 {
		query.Set("timeout", r.timeout.String())
	}
	u.RawQuery = query.Encode()
	root, below, under := "", u.Path, false
	if r.c.base != nil {
		root = r.c.base.Path
		below, under = strings.CutPrefix(u.Path, root)
	}
	parts := strings.Split(strings.TrimPrefix(below, "/"), "/")
	if len(parts) == 1 {
		return u
	}
	// number of path segments up to the version
	version := map[string]int{"api": 2, "apis": 3}[parts[0]]
	if !under || version == 0 {
		u.Path, u.RawQuery = "/{prefix}", ""
		return u
	}
	ofName := func(part string) bool { return part == "status" || part == "finalize" }
	switch object := parts[min(version, len(parts)):]; {
	case len(object) == 2, len(object) == 3 && ofName(object[2]):
		object[1] = "{name}"
	case len(object) == 3:
		object[1] = "{namespace}"
	case len(object) > 3:
		object[1] = "{namespace}"
		if !ofName(object[3]) {
			object[3] = "{name}"
		}
	}
	u.Path = path.Join("/", root, path.Join(parts...))
	return u
}
