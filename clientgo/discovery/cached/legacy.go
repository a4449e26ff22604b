// Package memory has the former names of package discovery/cached/memory.
package memory

import (
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
)

// ErrCacheNotFound is memory.ErrCacheNotFound.
//
// Deprecated: use package discovery/cached/memory.
var ErrCacheNotFound = memory.ErrCacheNotFound

// NewMemCacheClient is memory.NewMemCacheClient.
//
// Deprecated: use package discovery/cached/memory.
func NewMemCacheClient(delegate discovery.DiscoveryInterface) discovery.CachedDiscoveryInterface {
	return memory.NewMemCacheClient(delegate)
}
