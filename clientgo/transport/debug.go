package transport

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

// DebugLevel selects a part of a request to log.
type DebugLevel int

// The parts of a request that can be logged.
const (
	// DebugJustURL logs method and URL.
	DebugJustURL DebugLevel = iota
	// DebugURLTiming logs method, URL, status and duration.
	DebugURLTiming
	// DebugCurlCommand logs a curl command that sends the same request.
	DebugCurlCommand
	// DebugRequestHeaders logs the headers of the request.
	DebugRequestHeaders
	// DebugResponseStatus logs status and duration of the response.
	DebugResponseStatus
	// DebugResponseHeaders logs the headers of the response.
	DebugResponseHeaders
	// DebugDetailedTiming logs how long each step took.
	DebugDetailedTiming
	// DebugByContext adds the parts that the verbosity of the logger in the request's context
	// selects.
	DebugByContext
)

// DebugWrappers returns a round tripper that logs requests. The verbosity of the logger in the
// context of a request determines the parts that are logged. If the verbosity of the process is
// below 6, it returns rt.
func DebugWrappers(rt http.RoundTripper) http.RoundTripper {
	if klog.V(6).Enabled() {
		return NewDebuggingRoundTripper(rt, DebugByContext)
	}
	return rt
}

// byVerbosity lists the parts to log at each verbosity, the highest first. The curl command
// includes the headers of the request.
var byVerbosity = []struct {
	verbosity int
	levels    []DebugLevel
}{
	{9, []DebugLevel{DebugCurlCommand, DebugURLTiming, DebugDetailedTiming, DebugResponseHeaders}},
	{8, []DebugLevel{DebugJustURL, DebugRequestHeaders, DebugResponseStatus, DebugResponseHeaders}},
	{7, []DebugLevel{DebugJustURL, DebugRequestHeaders, DebugResponseStatus}},
	{6, []DebugLevel{DebugURLTiming}},
}

// NewDebuggingRoundTripper returns a round tripper that logs requests. It masks credentials in
// headers.
func NewDebuggingRoundTripper(rt http.RoundTripper, levels ...DebugLevel) http.RoundTripper {
	return &layer{next: rt, do: func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		log := klog.FromContext(req.Context())
		chosen := map[DebugLevel]bool{}
		for _, level := range levels {
			chosen[level] = true
		}
		if chosen[DebugByContext] {
			delete(chosen, DebugByContext)
			for _, of := range byVerbosity {
				if log.V(of.verbosity).Enabled() {
					log = log.V(of.verbosity)
					for _, level := range of.levels {
						chosen[level] = true
					}
					break
				}
			}
		}
		if len(chosen) == 0 {
			return next.RoundTrip(req)
		}
		return logRoundTrip(req, next, log, chosen)
	}}
}

func logRoundTrip(req *http.Request, next http.RoundTripper, log klog.Logger, chosen map[DebugLevel]bool) (*http.Response, error) {
	var about []any
	if chosen[DebugJustURL] {
		about = append(about, "verb", req.Method, "url", req.URL.String())
	}
	if chosen[DebugCurlCommand] {
		about = append(about, "curlCommand", curl(req))
	}
	if chosen[DebugRequestHeaders] {
		about = append(about, "headers", redactedHeaders(req.Header))
	}
	if len(about) > 0 {
		log.Info("Request", about...)
	}
	var steps timing
	if chosen[DebugDetailedTiming] {
		req = req.WithContext(httptrace.WithClientTrace(req.Context(), steps.trace()))
	}
	start := time.Now()
	response, err := next.RoundTrip(req)
	took := time.Since(start)
	about = nil
	if chosen[DebugURLTiming] {
		about = append(about, "verb", req.Method, "url", req.URL.String())
	}
	if chosen[DebugURLTiming] || chosen[DebugResponseStatus] {
		status := ""
		if response != nil {
			status = response.Status
		}
		about = append(about, "status", status)
	}
	if chosen[DebugResponseHeaders] && response != nil {
		about = append(about, "headers", redactedHeaders(response.Header))
	}
	if chosen[DebugURLTiming] || chosen[DebugResponseStatus] || chosen[DebugDetailedTiming] {
		about = append(about, "milliseconds", took.Milliseconds())
	}
	if chosen[DebugDetailedTiming] {
		steps.mu.Lock()
		defer steps.mu.Unlock()
		about = append(about, "dnsLookupMilliseconds", steps.dns.Milliseconds(), "dialMilliseconds", steps.dial.Milliseconds(),
			"tlsHandshakeMilliseconds", steps.handshake.Milliseconds(), "serverProcessingMilliseconds", steps.server.Milliseconds())
	}
	if len(about) > 0 {
		log.Info("Response", about...)
	}
	return response, err
}

// timing records how long the steps of a request took. It has a lock, because a dial may outlive
// the request that started it.
type timing struct {
	mu                           sync.Mutex // guards following
	at                           time.Time
	dns, dial, handshake, server time.Duration
}

func (t *timing) trace() *httptrace.ClientTrace {
	begin := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.at = time.Now()
	}
	end := func(took *time.Duration) {
		t.mu.Lock()
		defer t.mu.Unlock()
		*took = time.Since(t.at)
	}
	return &httptrace.ClientTrace{
		DNSStart:             func(httptrace.DNSStartInfo) { begin() },
		DNSDone:              func(httptrace.DNSDoneInfo) { end(&t.dns) },
		ConnectStart:         func(string, string) { begin() },
		ConnectDone:          func(string, string, error) { end(&t.dial) },
		TLSHandshakeStart:    begin,
		TLSHandshakeDone:     func(tls.ConnectionState, error) { end(&t.handshake) },
		WroteRequest:         func(httptrace.WroteRequestInfo) { begin() },
		GotFirstResponseByte: func() { end(&t.server) },
	}
}

// masked returns the value of a header without credentials. Of an Authorization header it returns
// only the scheme.
func masked(name, value string) string {
	switch http.CanonicalHeaderKey(name) {
	case "Authorization", "Proxy-Authorization":
		scheme, rest, _ := strings.Cut(value, " ")
		known := strings.EqualFold(scheme, "basic") || strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "negotiate")
		switch {
		case value == "":
			return ""
		case !known:
			return "<masked>"
		case rest == "":
			return scheme
		}
		return scheme + " <masked>"
	}
	return value
}

// headers are the headers to log: text logs show them as lines, and structured logs show lists of
// values.
type headers map[string][]string

// redactedHeaders returns headers without credentials.
func redactedHeaders(header http.Header) headers {
	h := make(headers, len(header))
	for name, values := range header {
		for _, value := range values {
			h[name] = append(h[name], masked(name, value))
		}
	}
	return h
}

// MarshalLog implements logr.Marshaler.
func (h headers) MarshalLog() any { return map[string][]string(h) }

// String returns one line for each value, sorted by the names of the headers.
func (h headers) String() string {
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			lines.WriteString(name + ": " + value + "\n")
		}
	}
	return lines.String()
}

// curl returns a command that sends the same request, without its body and credentials. The command
// ends with a newline, because text logs don't quote a text with a newline.
func curl(req *http.Request) string {
	var headers strings.Builder
	for name, values := range req.Header {
		for _, value := range values {
			fmt.Fprintf(&headers, ` -H %q`, name+": "+masked(name, value))
		}
	}
	return fmt.Sprintf("curl -v -X%s %s '%s'\n", req.Method, headers.String(), req.URL.String())
}
