package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// gate is a proxy in front of an API server. It counts requests by User-Agent, and measures the
// time from a change of a widget until the widget's status has been written.
type gate struct {
	server http.Handler

	mu      sync.Mutex // guards following
	changed map[string]time.Time
	passed  passed
}

// passed counts the requests through a gate since the last report.
type passed struct {
	Requests map[string]map[string]int // by client, and by kind and result of the request
	Statuses map[string]time.Time      // by client: when the first status was written
	Took     []time.Duration           // of the widgets whose status was written
	Pending  int                       // widgets without a status since the last change
}

// These are the User-Agent of the load, and the paths that the gate itself serves.
const (
	loadAgent  = "load"
	gateReport = "/bench/report" // the counts
	gateNext   = "/bench/next"   // returns the counts, and resets them
)

func newGate(server http.Handler) *gate {
	return &gate{server: server, changed: map[string]time.Time{}, passed: newPassed()}
}

func newPassed() passed {
	return passed{Requests: map[string]map[string]int{}, Statuses: map[string]time.Time{}}
}

// ServeHTTP implements http.Handler.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == gateReport || r.URL.Path == gateNext {
		g.report(w, r.URL.Path == gateNext)
		return
	}
	agent, asked := r.UserAgent(), parse(r)
	if agent == loadAgent && asked.resource == "widgets" && (asked.verb == "create" || asked.verb == "patch") {
		g.mu.Lock()
		g.changed[asked.name] = time.Now()
		g.mu.Unlock()
	}
	if asked.verb == "watch" { // counted at its beginning, because a watch may not end
		g.count(agent, "watch "+asked.resource)
		g.server.ServeHTTP(w, r)
		return
	}
	answer := &answer{ResponseWriter: w, code: http.StatusOK}
	g.server.ServeHTTP(answer, r)
	what := asked.verb + " " + asked.resource
	if answer.code >= 400 {
		what += fmt.Sprintf(": %d", answer.code)
	}
	g.count(agent, what)
	if asked.resource == "widgets/status" && answer.code < 300 {
		g.done(agent, asked.name)
	}
}

func (g *gate) count(agent, what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.passed.Requests[agent] == nil {
		g.passed.Requests[agent] = map[string]int{}
	}
	g.passed.Requests[agent][what]++
}

// done records that the status of a widget was written.
func (g *gate) done(agent, name string) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.passed.Statuses[agent].IsZero() {
		g.passed.Statuses[agent] = now
	}
	if since, pending := g.changed[name]; pending {
		g.passed.Took = append(g.passed.Took, now.Sub(since))
		delete(g.changed, name)
	}
}

func (g *gate) report(w http.ResponseWriter, next bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passed.Pending = len(g.changed)
	if !next { // this report is requested often, and the times are many
		_ = json.NewEncoder(w).Encode(passed{Statuses: g.passed.Statuses, Pending: g.passed.Pending})
		return
	}
	_ = json.NewEncoder(w).Encode(g.passed)
	g.passed = newPassed()
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

// answer records the status code.
type answer struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(code int) {
	a.code = code
	a.ResponseWriter.WriteHeader(code)
}

// Unwrap implements the interface of http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
