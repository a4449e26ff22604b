package openapi

import (
	"context"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"
)

// ContentTypeOpenAPIV3PB is the media type of a document in protobuf.
const ContentTypeOpenAPIV3PB = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"

// GroupVersion is the document of a group version.
type GroupVersion interface {
	// Schema returns the document in a media type such as "application/json".
	Schema(contentType string) ([]byte, error)

	// ServerRelativeURL returns the path and query of the document. The query has a hash of the
	// document, so the URL changes with the document.
	ServerRelativeURL() string
}

// GroupVersionWithContext is GroupVersion, with contexts.
type GroupVersionWithContext interface {
	// SchemaWithContext is GroupVersion.Schema.
	SchemaWithContext(ctx context.Context, contentType string) ([]byte, error)

	// ServerRelativeURL is GroupVersion.ServerRelativeURL.
	ServerRelativeURL() string
}

type document struct {
	rest rest.Interface
	url  string
}

// Schema implements GroupVersion.
func (d *document) Schema(contentType string) ([]byte, error) {
	return d.SchemaWithContext(context.Background(), contentType)
}

// SchemaWithContext implements GroupVersionWithContext.
func (d *document) SchemaWithContext(ctx context.Context, contentType string) ([]byte, error) {
	request := d.rest.Get()
	if strings.HasPrefix(d.url, documentRoot) {
		// The URL may lack the path prefix of a proxy in front of the server, so the request adds
		// the client's prefix.
		locator, err := url.Parse(d.url)
		if err != nil {
			return nil, err
		}
		request = request.AbsPath(locator.Path)
		for name, values := range locator.Query() {
			for _, value := range values {
				request = request.Param(name, value)
			}
		}
	} else {
		request = request.RequestURI(d.url)
	}
	return request.SetHeader("Accept", contentType).Do(ctx).Raw()
}

// ServerRelativeURL implements GroupVersion.
func (d *document) ServerRelativeURL() string { return d.url }

// ToGroupVersionWithContext returns gv itself if gv takes contexts, and otherwise an adapter that
// ignores contexts.
func ToGroupVersionWithContext(gv GroupVersion) GroupVersionWithContext {
	if gv == nil {
		return nil
	}
	if contextual, ok := gv.(GroupVersionWithContext); ok {
		return contextual
	}
	return groupVersionWithContext{gv}
}

type groupVersionWithContext struct{ GroupVersion }

func (p groupVersionWithContext) SchemaWithContext(_ context.Context, contentType string) ([]byte, error) {
	return p.Schema(contentType)
}
