// Package fake has a discovery client for tests. Its results come from a list of resources.
//
// client-go's fake panics in two methods. Here OpenAPIV3 returns a client without documents, and
// WithLegacy returns the fake itself.
package fake
