// Package restmapper maps resources to kinds and kinds to resources, based on an API server's
// discovery documents.
//
// It differs from client-go's package as follows. A DeferredDiscoveryRESTMapper asks the server
// without holding a lock. It asks only once more for something missing, even if its cache never
// becomes fresh. A category has each resource once, not once for each version. A mapper that takes
// contexts stops when the context ends.
package restmapper
