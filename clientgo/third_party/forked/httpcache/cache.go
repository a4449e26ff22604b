// Package httpcache caches HTTP responses as RFC 9111 permits a private cache. It has the API of
// client-go's fork of github.com/gregjones/httpcache.
package httpcache

import (
	"bufio"
	"bytes"
	"net/http"
	"sync"
)

// Cache stores responses in wire format. Its methods may be called concurrently.
type Cache interface {
	// Get returns a response, and whether the cache has it.
	Get(key string) (responseBytes []byte, ok bool)
	// Set stores a response. The cache must not change the bytes.
	Set(key string, responseBytes []byte)
	// Delete removes a response.
	Delete(key string)
}

// keyOf returns the cache key of a request, which is its URL. If the method is not GET, the method
// precedes the URL.
func keyOf(req *http.Request) string {
	if req.Method == http.MethodGet {
		return req.URL.String()
	}
	return req.Method + " " + req.URL.String()
}

// CachedResponse returns the response to a request that is stored in the cache c, or nil.
func CachedResponse(c Cache, req *http.Request) (resp *http.Response, err error) {
	kept, ok := c.Get(keyOf(req))
	if !ok {
		return nil, nil
	}
	return http.ReadResponse(bufio.NewReader(bytes.NewReader(kept)), req)
}

// MemoryCache is a Cache in memory of unlimited size. Make it with NewMemoryCache.
type MemoryCache struct {
	mu    sync.RWMutex // guards following
	items map[string][]byte
}

// NewMemoryCache returns an empty cache.
func NewMemoryCache() *MemoryCache { return &MemoryCache{items: map[string][]byte{}} }

// Get implements Cache.
func (c *MemoryCache) Get(key string) (resp []byte, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	resp, ok = c.items[key]
	return resp, ok
}

// Set implements Cache.
func (c *MemoryCache) Set(key string, resp []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items[key] = resp
}

// Delete implements Cache.
func (c *MemoryCache) Delete(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.items, key)
}
