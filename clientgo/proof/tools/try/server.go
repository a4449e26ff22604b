package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/kinform/kinform/apitest"
)

// server is an API server that records requests. A request that matches a fault gets the response
// of the fault instead.
type server struct {
	*httptest.Server
	api *apitest.Server
	o   *outcome

	mu            sync.Mutex // guards following
	takenRequests []string
	faults        []*fault
}

// fault is a response that replaces the server's response to some requests.
type fault struct {
	method, path string // the request's path must contain path; an empty string matches all
	times        int    // negative: always
	handler      http.HandlerFunc
}

func serve(o *outcome, faults ...*fault) *server {
	s := &server{api: apitest.New(apitest.Options{}), o: o, faults: faults}
	s.Server = httptest.NewServer(s)
	return s
}

func (s *server) Close() {
	s.CloseClientConnections()
	s.Server.Close()
	s.api.Close()
}

// config returns the configuration of a client with JSON bodies.
func (s *server) config() *rest.Config {
	return &rest.Config{Host: s.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	what := strings.TrimSpace(fmt.Sprintln(r.Method, normalize(r.URL.Path), ordered(r.URL.Query()), r.Header.Get("Content-Type"), normalizeBody(body)))
	s.mu.Lock()
	s.takenRequests = append(s.takenRequests, what)
	var found *fault
	for _, f := range s.faults {
		if f.times != 0 && (f.method == "" || f.method == r.Method) && strings.Contains(r.URL.Path, f.path) {
			f.times--
			found = f
			break
		}
	}
	s.mu.Unlock()
	if found != nil {
		found.handler(w, r)
		return
	}
	s.api.ServeHTTP(w, r)
}

func (s *server) fail(faults ...*fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults
}

// takeRequests returns the requests since the last call.
func (s *server) takeRequests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.takenRequests
	s.takenRequests = nil
	return asked
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.takenRequests)
}

// print records the requests since the last call in the outcome. It leaves out repetitions.
func (s *server) print(what string) {
	for _, asked := range slices.Compact(s.takeRequests()) {
		s.o.line(what, asked)
	}
}

// printFirst records the requests since the last call in the outcome. It records requests that
// differ only in versions once.
func (s *server) printFirst(what string) {
	for _, asked := range s.takeRequests() {
		s.o.recordOnce(what, resource.ReplaceAllString(asked, "VERSION"))
	}
}

var host, _ = os.Hostname()

// Matches of the parts of a line that differ between runs.
var (
	times       = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	suffix      = regexp.MustCompile(`\.[0-9a-f]{14,16}\b`)
	resource    = regexp.MustCompile(`"generation":\d+|"resourceVersion":"\d+"`)
	generated   = regexp.MustCompile(`csr-[0-9a-z]+`)
	requestText = regexp.MustCompile(`"request":"[^"]*"`)
	address     = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	uids        = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

func normalize(s string) string {
	s = times.ReplaceAllString(s, "TIME")
	s = suffix.ReplaceAllString(s, ".SUFFIX")
	s = uids.ReplaceAllString(s, "UID")
	s = address.ReplaceAllString(s, "ADDRESS")
	if len(host) > 3 {
		s = strings.ReplaceAll(s, host, "HOST")
	}
	return s
}

// ordered returns a query with the terms of its selector sorted, because client-go sends the terms
// in random order.
func ordered(query url.Values) string {
	if selector := query.Get("fieldSelector"); selector != "" {
		query.Set("fieldSelector", sorted(selector))
	}
	return query.Encode()
}

func sorted(selector string) string {
	terms := strings.Split(selector, ",")
	slices.Sort(terms)
	return strings.Join(terms, ",")
}

func normalizeBody(body []byte) string {
	var v any
	if json.Unmarshal(body, &v) != nil {
		if len(body) > 0 {
			return strconv.Quote(string(body))
		}
		return ""
	}
	return normalize(text(v))
}

// statusHandler returns a handler that sends a Status, as an API server does.
func statusHandler(code int, reason, message string, more ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, header := range more {
			name, value, _ := strings.Cut(header, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code)
	}
}

// textHandler returns a handler that sends a text body, which is not a Status.
func textHandler(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// closeConnection closes the connection without a response.
func closeConnection(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
