package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// countingProxy is a proxy in front of an API server. It counts requests by User-Agent, and
// measures the time from a change of a widget until the widget's status has been written.
type countingProxy struct {
	server http.Handler

	mu      sync.Mutex // guards following
	changed map[string]time.Time
	counts  requestCounts
}

// requestCounts counts the requests through the proxy since the last report.
type requestCounts struct {
	Requests map[string]map[string]int // by client, and by kind and result of the request
	Statuses map[string]time.Time      // by client: when the first status was written
	Took     []time.Duration           // latencies of the changes whose status was written
	Pending  int                       // changed widgets whose status is not yet written
}

// These are the User-Agent of the load, and the paths that the proxy itself serves.
const (
	loadAgent  = "load"
	reportPath = "/bench/report" // the counts
	nextPath   = "/bench/next"   // returns the counts, and resets them
)

func newCountingProxy(server http.Handler) *countingProxy {
	return &countingProxy{server: server, changed: map[string]time.Time{}, counts: newRequestCounts()}
}

func newRequestCounts() requestCounts {
	return requestCounts{Requests: map[string]map[string]int{}, Statuses: map[string]time.Time{}}
}

// ServeHTTP implements http.Handler.
func (g *countingProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == reportPath || r.URL.Path == nextPath {
		g.report(w, r.URL.Path == nextPath)
		return
	}
	agent, asked := r.UserAgent(), parse(r)
	if agent == loadAgent && asked.resource == "widgets" && (asked.verb == "create" || asked.verb == "patch") {
		g.mu.Lock()
		g.changed[asked.name] = time.Now()
		g.mu.Unlock()
	}
	if asked.verb == "watch" { // count a watch when it begins, because it may not end
		g.count(agent, "watch "+asked.resource)
		g.server.ServeHTTP(w, r)
		return
	}
	recorder := &statusRecorder{ResponseWriter: w, code: http.StatusOK}
	g.server.ServeHTTP(recorder, r)
	what := asked.verb + " " + asked.resource
	if recorder.code >= 400 {
		what += fmt.Sprintf(": %d", recorder.code)
	}
	g.count(agent, what)
	if asked.resource == "widgets/status" && recorder.code < 300 {
		g.statusWritten(agent, asked.name)
	}
}

func (g *countingProxy) count(agent, what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.counts.Requests[agent] == nil {
		g.counts.Requests[agent] = map[string]int{}
	}
	g.counts.Requests[agent][what]++
}

// statusWritten records that the status of a widget was written.
func (g *countingProxy) statusWritten(agent, name string) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.counts.Statuses[agent].IsZero() {
		g.counts.Statuses[agent] = now
	}
	if since, pending := g.changed[name]; pending {
		g.counts.Took = append(g.counts.Took, now.Sub(since))
		delete(g.changed, name)
	}
}

func (g *countingProxy) report(w http.ResponseWriter, next bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts.Pending = len(g.changed)
	if !next { // the load polls this report, so omit the many latencies
		_ = json.NewEncoder(w).Encode(requestCounts{Statuses: g.counts.Statuses, Pending: g.counts.Pending})
		return
	}
	_ = json.NewEncoder(w).Encode(g.counts)
	g.counts = newRequestCounts()
}

// request is a parsed request to an API server.
type request struct{ verb, resource, name string }

// parse reads /api/v1/... and /apis/GROUP/VERSION/..., with namespaces/NAMESPACE or without. All
// other paths are discovery. When the load creates an object, it sends the object's name in a
// header.
func parse(r *http.Request) request {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		parts = parts[3:]
	default:
		return request{verb: "get", resource: "discovery"}
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	asked := request{resource: parts[0]}
	if len(parts) > 1 {
		asked.name = parts[1]
	}
	if len(parts) > 2 {
		asked.resource += "/" + parts[2]
	}
	switch query := r.URL.Query(); {
	case r.Method == http.MethodPost:
		asked.verb, asked.name = "create", r.Header.Get(nameHeader)
	case r.Method == http.MethodPut:
		asked.verb = "update"
	case r.Method != http.MethodGet:
		asked.verb = strings.ToLower(r.Method)
	case query.Get("watch") == "true" || query.Get("watch") == "1":
		asked.verb = "watch"
	case asked.name == "":
		asked.verb = "list"
	default:
		asked.verb = "get"
	}
	return asked
}

// statusRecorder records the status code.
type statusRecorder struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (a *statusRecorder) WriteHeader(code int) {
	a.code = code
	a.ResponseWriter.WriteHeader(code)
}

// Unwrap implements the interface of http.ResponseController.
func (a *statusRecorder) Unwrap() http.ResponseWriter { return a.ResponseWriter }
