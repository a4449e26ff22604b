package openapitest

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"k8s.io/client-go/openapi"
)

// NewFileClient returns a client whose documents are the files of a directory, named as in
// api/openapi-spec/v3 of the Kubernetes sources. For example, the document of apis/apps/v1 is
// apis__apps__v1_openapi.json. Files are read on each call.
func NewFileClient(path string) openapi.Client { return fileClient{os.DirFS(path)} }

type fileClient struct{ files fs.FS }

// Paths implements openapi.Client.
func (c fileClient) Paths() (map[string]openapi.GroupVersion, error) {
	entries, err := fs.ReadDir(c.files, ".")
	if err != nil {
		return nil, err
	}
	paths := map[string]openapi.GroupVersion{}
	for _, entry := range entries {
		if !entry.IsDir() {
			name := strings.TrimSuffix(entry.Name(), "_openapi.json")
			paths[strings.ReplaceAll(name, "__", "/")] = fileGroupVersion{c.files, entry.Name()}
		}
	}
	return paths, nil
}

type fileGroupVersion struct {
	files fs.FS
	name  string
}

// Schema implements openapi.GroupVersion.
func (g fileGroupVersion) Schema(contentType string) ([]byte, error) {
	if contentType != runtime.ContentTypeJSON {
		return nil, fmt.Errorf("files have documents in %q only, not in %q", runtime.ContentTypeJSON, contentType)
	}
	return fs.ReadFile(g.files, g.name)
}

// ServerRelativeURL returns the name of the file.
func (g fileGroupVersion) ServerRelativeURL() string { return g.name }
