// Package cached caches the OpenAPI v3 documents of an API server.
package cached

import (
	"context"

	"k8s.io/client-go/internal/once"
	"k8s.io/client-go/openapi"
)

// Client caches the list of documents, and each document in each requested media type. Errors are
// not cached. It is safe for concurrent use.
type Client struct {
	delegate openapi.ClientWithContext
	paths    once.Value[map[string]openapi.GroupVersionWithContext] // the values are *groupVersion
}

var (
	_ openapi.Client            = &Client{}
	_ openapi.ClientWithContext = &Client{}
)

// NewClient returns a *Client that requests documents through another client.
func NewClient(other openapi.Client) openapi.Client {
	return NewClientWithContext(openapi.ToClientWithContext(other))
}

// NewClientWithContext returns a client that requests documents through another client.
func NewClientWithContext(other openapi.ClientWithContext) *Client { return &Client{delegate: other} }

// PathsWithContext implements openapi.ClientWithContext. Each call returns the same map, which must
// not be changed.
func (c *Client) PathsWithContext(ctx context.Context) (map[string]openapi.GroupVersionWithContext, error) {
	return c.paths.Get(ctx, func(ctx context.Context) (map[string]openapi.GroupVersionWithContext, error) {
		paths, err := c.delegate.PathsWithContext(ctx)
		if err != nil {
			return nil, err
		}
		known := make(map[string]openapi.GroupVersionWithContext, len(paths))
		for path, gv := range paths {
			known[path] = &groupVersion{delegate: gv}
		}
		return known, nil
	})
}

// Paths implements openapi.Client. The caller owns the returned map.
func (c *Client) Paths() (map[string]openapi.GroupVersion, error) {
	known, err := c.PathsWithContext(context.Background())
	if err != nil {
		return nil, err
	}
	paths := make(map[string]openapi.GroupVersion, len(known))
	for path, gv := range known {
		paths[path] = gv.(*groupVersion)
	}
	return paths, nil
}
