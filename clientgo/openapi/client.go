package openapi

import (
	"context"
	"encoding/json"
	"strings"

	"k8s.io/client-go/rest"
)

// Client lists the documents of a server.
type Client interface {
	// Paths returns the documents. The keys are paths in the API, such as "apis/apps/v1".
	Paths() (map[string]GroupVersion, error)
}

// ClientWithContext is Client, with contexts.
type ClientWithContext interface {
	// PathsWithContext is Client.Paths.
	PathsWithContext(ctx context.Context) (map[string]GroupVersionWithContext, error)
}

// documentRoot is the path of the list of documents. The documents are below it.
const documentRoot = "/openapi/v3"

type client struct{ rest rest.Interface }

// index is the server's list of documents. (With kube-openapi's type for this list, the program
// would link a web server.)
type index struct {
	Paths map[string]struct {
		ServerRelativeURL string `json:"serverRelativeURL"`
	} `json:"paths"`
}

// NewClient returns a client that caches nothing: each call is a request.
func NewClient(restClient rest.Interface) Client { return &client{rest: restClient} }

// NewClientWithContext is NewClient for calls with contexts.
func NewClientWithContext(restClient rest.Interface) ClientWithContext {
	return &client{rest: restClient}
}

// Paths implements Client.
func (c *client) Paths() (map[string]GroupVersion, error) {
	documents, err := c.documents(context.Background())
	if err != nil {
		return nil, err
	}
	paths := make(map[string]GroupVersion, len(documents))
	for path, document := range documents {
		paths[path] = document
	}
	return paths, nil
}

// PathsWithContext implements ClientWithContext.
func (c *client) PathsWithContext(ctx context.Context) (map[string]GroupVersionWithContext, error) {
	documents, err := c.documents(ctx)
	if err != nil {
		return nil, err
	}
	paths := make(map[string]GroupVersionWithContext, len(documents))
	for path, document := range documents {
		paths[path] = document
	}
	return paths, nil
}

// documents requests the list of documents.
func (c *client) documents(ctx context.Context) (map[string]*document, error) {
	body, err := c.rest.Get().AbsPath(documentRoot).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var list index
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	prefix := strings.TrimSuffix(c.rest.Get().AbsPath("/").URL().Path, "/")
	documents := make(map[string]*document, len(list.Paths))
	for path, item := range list.Paths {
		documents[path] = &document{rest: c.rest, url: belowPrefix(item.ServerRelativeURL, prefix)}
	}
	return documents, nil
}

// belowPrefix returns the URL of a document without the path prefix of the client, because the
// request adds that prefix. A server that knows the path of its proxy includes the prefix in the
// URL.
func belowPrefix(url, prefix string) string {
	if below, ok := strings.CutPrefix(url, prefix); ok && strings.HasPrefix(below, "/") {
		return below
	}
	return url
}

// ToClientWithContext returns c itself if c takes contexts, and otherwise an adapter that ignores
// contexts.
func ToClientWithContext(c Client) ClientWithContext {
	if c == nil {
		return nil
	}
	if contextual, ok := c.(ClientWithContext); ok {
		return contextual
	}
	return clientWithContext{c}
}

type clientWithContext struct{ Client }

func (p clientWithContext) PathsWithContext(context.Context) (map[string]GroupVersionWithContext, error) {
	plain, err := p.Paths()
	if plain == nil {
		return nil, err
	}
	paths := make(map[string]GroupVersionWithContext, len(plain))
	for path, gv := range plain {
		paths[path] = ToGroupVersionWithContext(gv)
	}
	return paths, err
}
