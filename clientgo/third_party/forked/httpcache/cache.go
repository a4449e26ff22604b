// Package httpcache keeps HTTP responses for the client that has asked for them, as RFC 9111 lets a private cache. It has
// the API of client-go's fork of github.com/gregjones/httpcache.
package httpcache

import (
	"bufio"
	"bytes"
	"net/http"
	"sync"
)

// Cache holds responses in the form in which they are sent. Its methods may be called at the same time.
type Cache interface {
	// Get returns a response, and whether there is one.
	Get(key string) (responseBytes []byte, ok bool)
	// Set keeps a response. The cache must not change it.
	Set(key string, responseBytes []byte)
	// Delete forgets a response.
	Delete(key string)
}

// keyOf returns the key of the response to a request: its URL, with the method before it unless that is GET.
func keyOf(req *http.Request) string {
	if req.Method == http.MethodGet {
		return req.URL.String()
	}
	return req.Method + " " + req.URL.String()
}

// CachedResponse returns the response that c has for a request, or nil.
func CachedResponse(c Cache, req *http.Request) (resp *http.Response, err error) {
	kept, ok := c.Get(keyOf(req))
	if !ok {
		return nil, nil
	}
	return http.ReadResponse(bufio.NewReader(bytes.NewReader(kept)), req)
}

// MemoryCache is a Cache in memory. It has no bound. NewMemoryCache makes one.
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
