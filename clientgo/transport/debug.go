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

// DebugLevel is something that is logged of a request.
type DebugLevel int

// What can be logged of a request.
const (
	// DebugJustURL logs method and URL.
	DebugJustURL DebugLevel = iota
	// DebugURLTiming logs method, URL, code and duration.
	DebugURLTiming
	// DebugCurlCommand logs a command that sends the same request.
	DebugCurlCommand
	// DebugRequestHeaders logs the headers of the request.
	DebugRequestHeaders
	// DebugResponseStatus logs code and duration of the answer.
	DebugResponseStatus
	// DebugResponseHeaders logs the headers of the answer.
	DebugResponseHeaders
	// DebugDetailedTiming logs how long each step took.
	DebugDetailedTiming
	// DebugByContext adds what the verbosity of the logger in the context of a request says.
	DebugByContext
)

// DebugWrappers logs requests by the verbosity of the logger in their contexts, if the verbosity of the process is 6 or more.
func DebugWrappers(rt http.RoundTripper) http.RoundTripper {
	if klog.V(6).Enabled() {
		return NewDebuggingRoundTripper(rt, DebugByContext)
	}
	return rt
}

// byVerbosity is what is logged at each verbosity, the highest first. The command has the headers of the request.
var byVerbosity = []struct {
	verbosity int
	levels    []DebugLevel
}{
	{9, []DebugLevel{DebugCurlCommand, DebugURLTiming, DebugDetailedTiming, DebugResponseHeaders}},
	{8, []DebugLevel{DebugJustURL, DebugRequestHeaders, DebugResponseStatus, DebugResponseHeaders}},
	{7, []DebugLevel{DebugJustURL, DebugRequestHeaders, DebugResponseStatus}},
	{6, []DebugLevel{DebugURLTiming}},
}

// NewDebuggingRoundTripper logs requests. Credentials in headers are masked.
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
		return logged(req, next, log, chosen)
	}}
}

func logged(req *http.Request, next http.RoundTripper, log klog.Logger, chosen map[DebugLevel]bool) (*http.Response, error) {
	var about []any
	if chosen[DebugJustURL] {
		about = append(about, "verb", req.Method, "url", req.URL.String())
	}
	if chosen[DebugCurlCommand] {
		about = append(about, "curlCommand", curl(req))
	}
	if chosen[DebugRequestHeaders] {
		about = append(about, "headers", maskedHeaders(req.Header))
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
		about = append(about, "headers", maskedHeaders(response.Header))
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

// timing is how long the steps of a request took. A connection may go on being opened after the request has its answer.
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

// masked is a header's value without its credentials: what is kept of an authorization is its scheme.
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

// headers are for the log: lines in a text, lists of values elsewhere.
type headers map[string][]string

// maskedHeaders returns headers without credentials.
func maskedHeaders(header http.Header) headers {
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

// String has a line for each value, in the order of names.
func (h headers) String() string {
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			lines.WriteString(name + ": " + value + "\n")
		}
	}
	return lines.String()
}

// curl is a command that sends the same request, without its body and its credentials. It ends its line, so that a log of text
// shows it without quotes.
func curl(req *http.Request) string {
	var headers strings.Builder
	for name, values := range req.Header {
		for _, value := range values {
			fmt.Fprintf(&headers, ` -H %q`, name+": "+masked(name, value))
		}
	}
	return fmt.Sprintf("curl -v -X%s %s '%s'\n", req.Method, headers.String(), req.URL.String())
}
