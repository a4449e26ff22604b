package cached

import (
	"context"
	"sync"

	"k8s.io/client-go/internal/once"
	"k8s.io/client-go/openapi"
)

// groupVersion caches a document per media type. Callers share the bytes, and must not change them.
type groupVersion struct {
	delegate openapi.GroupVersionWithContext

	mu            sync.Mutex // guards following
	byContentType map[string]*once.Value[[]byte]
}

func (g *groupVersion) documentOf(contentType string) *once.Value[[]byte] {
	g.mu.Lock()
	defer g.mu.Unlock()
	form, ok := g.byContentType[contentType]
	if !ok {
		if g.byContentType == nil {
			g.byContentType = map[string]*once.Value[[]byte]{}
		}
		form = &once.Value[[]byte]{}
		g.byContentType[contentType] = form
	}
	return form
}

// Schema implements openapi.GroupVersion.
func (g *groupVersion) Schema(contentType string) ([]byte, error) {
	return g.SchemaWithContext(context.Background(), contentType)
}

// SchemaWithContext implements openapi.GroupVersionWithContext.
func (g *groupVersion) SchemaWithContext(ctx context.Context, contentType string) ([]byte, error) {
	return g.documentOf(contentType).Get(ctx, func(ctx context.Context) ([]byte, error) {
		return g.delegate.SchemaWithContext(ctx, contentType)
	})
}

// ServerRelativeURL implements openapi.GroupVersion.
func (g *groupVersion) ServerRelativeURL() string { return g.delegate.ServerRelativeURL() }
