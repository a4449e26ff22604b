// Package restmapper maps resources to kinds and kinds to resources, based on an API server's
// discovery documents.
//
// It differs from client-go's package as follows. A DeferredDiscoveryRESTMapper sends its requests
// without holding a lock. If a lookup finds nothing, it invalidates its cache only once, even if
// the cache never becomes fresh. A category has each resource once, not once for each version. A
// lookup with a context returns when the context ends.
package restmapper
