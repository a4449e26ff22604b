package cached

import (
	"context"
	"sync"

	"k8s.io/client-go/internal/once"
	"k8s.io/client-go/openapi"
)

// groupVersion caches a document per media type. Callers share the bytes, and must not change them.
type groupVersion struct {
	other openapi.GroupVersionWithContext

	mu    sync.Mutex // guards following
	forms map[string]*once.Value[[]byte]
}

func (g *groupVersion) form(contentType string) *once.Value[[]byte] {
	g.mu.Lock()
	defer g.mu.Unlock()
	form, ok := g.forms[contentType]
	if !ok {
		if g.forms == nil {
			g.forms = map[string]*once.Value[[]byte]{}
		}
		form = &once.Value[[]byte]{}
		g.forms[contentType] = form
	}
	return form
}

// Schema implements openapi.GroupVersion.
func (g *groupVersion) Schema(contentType string) ([]byte, error) {
	return g.SchemaWithContext(context.Background(), contentType)
}

// SchemaWithContext implements openapi.GroupVersionWithContext.
func (g *groupVersion) SchemaWithContext(ctx context.Context, contentType string) ([]byte, error) {
	return g.form(contentType).Get(ctx, func(ctx context.Context) ([]byte, error) {
		return g.other.SchemaWithContext(ctx, contentType)
	})
}

// ServerRelativeURL implements openapi.GroupVersion.
func (g *groupVersion) ServerRelativeURL() string { return g.other.ServerRelativeURL() }
