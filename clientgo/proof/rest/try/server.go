package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// response is the response of a server to a request.
type response struct {
	code   int
	kind   string // Content-Type; "-" omits the header
	body   string
	header map[string][]string
	// written to the connection, which is then closed
	raw   string
	reset bool                                     // the connection is reset after raw
	fn    func(http.ResponseWriter, *http.Request) // replaces the whole response
}

const (
	jsonType     = "application/json"
	protobufType = "application/vnd.kubernetes.protobuf"
	textType     = "text/plain"
)

func newResponse(code int, kind, body string) response {
	return response{code: code, kind: kind, body: body}
}

// withHeader returns a copy of the response with an additional header.
func (a response) withHeader(name string, values ...string) response {
	a.header = maps.Clone(a.header)
	if a.header == nil {
		a.header = map[string][]string{}
	}
	a.header[name] = values
	return a
}

// server sends its responses in order, and repeats the last response. It records requests.
type server struct {
	*httptest.Server
	mu        sync.Mutex // guards following
	responses []response
	requests  []string
}

func serve(responses ...response) *server {
	s := newUnstartedServer(responses...)
	s.Start()
	return s
}

func newUnstartedServer(responses ...response) *server {
	s := &server{responses: responses}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = silent
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the case and its client may have ended
	}
	s.mu.Lock()
	s.requests = append(s.requests, describe(r, body))
	a := s.responses[min(len(s.requests), len(s.responses))-1]
	s.mu.Unlock()
	switch {
	case a.fn != nil:
		a.fn(w, r)
		return
	case a.raw != "" || a.code == 0:
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, a.raw)
		if tcp, ok := conn.(*net.TCPConn); ok && a.reset {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
		return
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	switch a.kind {
	case "-":
		w.Header()["Content-Type"] = nil
	default:
		w.Header()["Content-Type"] = []string{a.kind}
	}
	w.WriteHeader(a.code)
	_, _ = io.WriteString(w, a.body)
}

// describe returns a text with all parts of a request.
func describe(r *http.Request, body []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", r.Method, r.RequestURI)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(&b, " %s:%q", name, r.Header[name])
	}
	if r.ContentLength != 0 {
		fmt.Fprintf(&b, " length %d", r.ContentLength)
	}
	if len(body) > 0 {
		fmt.Fprintf(&b, " body %s", short(body))
	}
	return b.String()
}

// printRequests prints the requests since the last call.
func (s *server) printRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, request := range s.requests {
		line("arrived", request)
	}
	s.requests = nil
}

// setResponses replaces the responses.
func (s *server) setResponses(responses ...response) *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.responses, s.requests = responses, nil
	return s
}

// configOf returns a Config of a client for the pods of a server.
func configOf(s *server, changes ...func(*rest.Config)) *rest.Config {
	c := &rest.Config{Host: s.URL, APIPath: "/api", QPS: -1, ContentConfig: rest.ContentConfig{
		GroupVersion: &schema.GroupVersion{Version: "v1"}, NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
	}}
	for _, change := range changes {
		change(c)
	}
	return c
}

func clientOf(s *server, changes ...func(*rest.Config)) *rest.RESTClient {
	c, err := rest.RESTClientFor(configOf(s, changes...))
	if err != nil {
		panic(err)
	}
	return c
}

// protobuf makes a Config send and accept protobuf.
func protobuf(c *rest.Config) {
	c.ContentType, c.AcceptContentTypes = protobufType, protobufType+","+jsonType
}

// withShortTimeout returns a context with a timeout, for calls that should end before the timeout.
func withShortTimeout() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 20*time.Second)
}
