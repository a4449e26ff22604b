package discovery_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
)

// server is an API server that responds to discovery with the documents in testdata.
type server struct {
	*httptest.Server

	mu        sync.Mutex // guards following
	requested []string
	faults    map[string]http.HandlerFunc
}

// newServer starts a server. If aggregated is set, and a request accepts aggregated documents, the
// server sends aggregated documents. Otherwise it sends legacy documents. faults replace responses,
// by path.
func newServer(t *testing.T, aggregated bool, faults map[string]http.HandlerFunc) *server {
	t.Helper()
	s := &server{faults: faults}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requested = append(s.requested, r.URL.Path)
		s.mu.Unlock()
		if fault := s.faults[r.URL.Path]; fault != nil {
			fault(w, r)
			return
		}
		s.respond(w, r, aggregated)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) respond(w http.ResponseWriter, r *http.Request, aggregated bool) {
	file, contentType := "testdata/legacy"+r.URL.Path+".json", "application/json"
	if aggregated && strings.HasPrefix(r.Header.Get("Accept"), "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList") {
		file = "testdata/aggregated" + r.URL.Path + ".json"
		contentType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	}
	data, err := os.ReadFile(file)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(data)
}

// client returns a client of the server.
func (s *server) client(t *testing.T) *rest.Client {
	t.Helper()
	client, err := rest.NewClient(rest.Config{Host: s.URL}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// requests returns the paths of all requests so far.
func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requested
}

// status responds with a code and its text.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, http.StatusText(code), code) }
}

// body responds with a document.
func body(document string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(document))
	}
}

// canned returns the resources in testdata.
func canned(t *testing.T) []discovery.Resource {
	t.Helper()
	resources, err := discovery.Resources(t.Context(), newServer(t, true, nil).client(t))
	require.NoError(t, err)
	return resources
}
