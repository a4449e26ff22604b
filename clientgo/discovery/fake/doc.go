// Package fake has a discovery client for tests, which answers from a list of resources.
//
// It differs from client-go's where that panics: OpenAPIV3 returns a client without documents, and WithLegacy the fake itself.
package fake
