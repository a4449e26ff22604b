package discovery_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// configOf returns the configuration for a server. Its connections are closed when the test ends.
func configOf(t *testing.T, url string) *rest.Config {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &rest.Config{Host: url, Transport: transport}
}

// clientOf returns a client of a new API server.
func clientOf(t *testing.T, options apitest.Options) *discovery.DiscoveryClient {
	t.Helper()
	return discovery.NewDiscoveryClientForConfigOrDie(configOf(t, apitest.Start(t, options).URL()))
}

const (
	json       = "application/json"
	aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
)

// response is the response of a document server to a path.
type response struct {
	status      int
	contentType string
	body        string
}

// documents maps paths to responses. Other paths return 404.
type documents map[string]response

func legacyDocuments() documents {
	return documents{
		"/api": {200, json, `{"kind":"APIVersions","versions":["v1"]}`},
		"/apis": {200, json, `{"kind":"APIGroupList","apiVersion":"v1","groups":[
			{"name":"apps","versions":[{"groupVersion":"apps/v1beta1","version":"v1beta1"},{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}},
			{"name":"metrics.k8s.io","versions":[{"groupVersion":"metrics.k8s.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"metrics.k8s.io/v1","version":"v1"}}]}`},
		"/api/v1": {200, json, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[
			{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get"]},{"name":"pods/log","namespaced":true,"kind":"Pod","verbs":["get"]},
			{"name":"nodes","singularName":"node","kind":"Node","verbs":["get","list"]}]}`},
		"/apis/apps/v1": {200, json, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[
			{"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment","verbs":["get"]}]}`},
		"/apis/apps/v1beta1": {200, json, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1beta1","resources":[
			{"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment","verbs":["get"]},{"name":"olds","namespaced":true,"kind":"Old","verbs":["get"]}]}`},
		"/apis/metrics.k8s.io/v1": {200, json, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"metrics.k8s.io/v1","resources":[
			{"name":"nodes","singularName":"","kind":"NodeMetrics","verbs":["get"]}]}`},
	}
}

// documentServer serves documents, and records the requests.
type documentServer struct {
	url string

	mu        sync.Mutex // guards following
	documents documents
	requests  []*http.Request
}

func serve(t *testing.T, d documents) *documentServer {
	t.Helper()
	s := &documentServer{documents: d}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *documentServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	a, ok := s.documents[r.URL.Path]
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.contentType)
	w.WriteHeader(a.status)
	_, _ = w.Write([]byte(a.body))
}

// paths returns the paths requested since the last call.
func (s *documentServer) paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var paths []string
	for _, r := range s.requests {
		paths = append(paths, r.URL.Path)
	}
	s.requests = nil
	return paths
}

func (s *documentServer) set(path string, a response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents[path] = a
}

func (s *documentServer) client(t *testing.T) *discovery.DiscoveryClient {
	t.Helper()
	return discovery.NewDiscoveryClientForConfigOrDie(configOf(t, s.url))
}
