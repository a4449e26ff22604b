package main

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// response is a response of a server.
type response struct {
	code   int
	kind   string
	body   string
	header map[string]string
}

type responses map[string]response

const (
	jsonType       = "application/json"
	aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
)

func ok(body string) response { return response{200, jsonType, body, nil} }

func aggregated(body string) response { return response{200, aggregatedType, body, nil} }

func failing(code int) response { return response{code, "text/plain", "fault", nil} }

// merged returns a copy of d with changes. To remove a document, change it to failing(404).
func (d responses) merged(changes responses) responses {
	all := maps.Clone(d)
	maps.Copy(all, changes)
	return all
}

// server serves documents and records requests.
type server struct {
	*httptest.Server
	mu        sync.Mutex // guards following
	responses responses
	requests  []string
}

func serve(d responses) *server {
	s := &server{responses: maps.Clone(d)}
	s.Server = httptest.NewServer(s)
	return s
}

func (s *server) set(path string, d response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.responses[path] = d
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	request := r.Method + " " + r.URL.Path + " " + r.Header.Get("Accept") + " " + r.Header.Get("If-None-Match") + " " + strings.TrimSpace(string(body))
	s.requests = append(s.requests, strings.TrimSpace(request))
	d, ok := s.responses[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", d.kind)
	for name, value := range d.header {
		w.Header().Set(name, value)
	}
	if tag := w.Header().Get("Etag"); tag != "" && tag == r.Header.Get("If-None-Match") {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(d.code)
	_, _ = w.Write([]byte(d.body))
}

// printRequests prints the requests since the last call. It sorts them, because many are sent at
// once.
func (s *server) printRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.requests)
	line("asked", strings.Join(s.requests, ", "))
	s.requests = nil
}
