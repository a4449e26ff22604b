package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/openapi"
)

// NewEmbeddedFileClient returns a client with documents of the Kubernetes types. kinform's test
// server generates them from the types in k8s.io/api. The documents have the names and types of all
// fields, and the merge keys of lists, but no descriptions.
func NewEmbeddedFileClient() openapi.Client { return embeddedClient{} }

type embeddedClient struct{}

// Paths implements openapi.Client.
func (embeddedClient) Paths() (map[string]openapi.GroupVersion, error) { return embedded() }

// embedded makes a server and requests all of its documents, once.
var embedded = sync.OnceValues(func() (map[string]openapi.GroupVersion, error) {
	server := apitest.New(apitest.Options{})
	defer server.Close()
	body, err := sendRequest(server, "/openapi/v3")
	if err != nil {
		return nil, err
	}
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal(body, &index); err != nil {
		return nil, err
	}
	paths := map[string]openapi.GroupVersion{}
	for path, item := range index.Paths {
		body, err := sendRequest(server, item.ServerRelativeURL)
		if err != nil {
			return nil, err
		}
		paths[path] = embeddedGroupVersion{item.ServerRelativeURL, body}
	}
	return paths, nil
})

// sendRequest sends a request to a server by calling its handler, without a connection.
func sendRequest(server http.Handler, uri string) ([]byte, error) {
	request, err := http.NewRequest(http.MethodGet, uri, nil)
	if err != nil {
		return nil, err
	}
	response := &recorder{header: http.Header{}, code: http.StatusOK}
	server.ServeHTTP(response, request)
	if response.code != http.StatusOK {
		return nil, fmt.Errorf("%s: code %d", uri, response.code)
	}
	return response.body.Bytes(), nil
}

// recorder is an http.ResponseWriter in memory.
type recorder struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(code int)        { r.code = code }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }

type embeddedGroupVersion struct {
	url  string
	body []byte
}

// Schema implements openapi.GroupVersion. The caller owns the bytes.
func (g embeddedGroupVersion) Schema(contentType string) ([]byte, error) {
	if contentType != runtime.ContentTypeJSON {
		return nil, fmt.Errorf("there are documents in %q only, not in %q", runtime.ContentTypeJSON, contentType)
	}
	return bytes.Clone(g.body), nil
}

// ServerRelativeURL implements openapi.GroupVersion.
func (g embeddedGroupVersion) ServerRelativeURL() string { return g.url }
