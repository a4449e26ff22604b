package testing

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
)

// FakeOpenAPIServer serves OpenAPI v3 documents like a Kubernetes API server. The caller must close
// HttpServer.
type FakeOpenAPIServer struct {
	//lint:ignore ST1003 client-go's name
	HttpServer *httptest.Server
	// ServedDocuments maps the path after /openapi/v3/ to its document.
	ServedDocuments map[string]*spec3.OpenAPI
	// RequestCounters counts requests by path. It may be read while no request is in progress.
	RequestCounters map[string]int
}

// NewFakeOpenAPIV3Server starts a server for the documents in a directory. It serves each file
// x/y.json as /openapi/v3/x/y. If the directory does not exist, there are no documents.
func NewFakeOpenAPIV3Server(specsPath string) (*FakeOpenAPIServer, error) {
	documents, err := readDocuments(specsPath)
	if err != nil {
		return nil, err
	}
	service := handler3.NewOpenAPIService()
	mux := http.NewServeMux()
	if err := service.RegisterOpenAPIV3VersionedService("/openapi/v3", muxRegistry{mux}); err != nil {
		return nil, err
	}
	for path, document := range documents {
		service.UpdateGroupVersion(path, document)
	}
	s := &FakeOpenAPIServer{ServedDocuments: documents, RequestCounters: map[string]int{}}
	var mu sync.Mutex
	s.HttpServer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		s.RequestCounters[r.URL.Path]++
		mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	return s, nil
}

func readDocuments(dir string) (map[string]*spec3.OpenAPI, error) {
	documents := map[string]*spec3.OpenAPI{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if os.IsNotExist(err) && path == dir {
			return nil
		}
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		document := &spec3.OpenAPI{}
		if err := json.Unmarshal(data, document); err != nil {
			return fmt.Errorf("%s is no OpenAPI v3 document: %w", path, err)
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		documents[strings.TrimSuffix(filepath.ToSlash(name), ".json")] = document
		return nil
	})
	return documents, err
}

// muxRegistry adapts a ServeMux to the interface with which package handler3 registers its paths.
type muxRegistry struct{ *http.ServeMux }

func (m muxRegistry) HandlePrefix(path string, handler http.Handler) { m.Handle(path, handler) }
func (m muxRegistry) Handle(path string, handler http.Handler)       { m.ServeMux.Handle(path, handler) }
