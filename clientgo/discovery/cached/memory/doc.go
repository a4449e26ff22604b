// Package memory caches the discovery documents of an API server until Invalidate.
//
// It differs from client-go's package in four ways. Requests are made without holding a lock, so a
// slow server blocks neither Invalidate nor reads of cached documents. Concurrent callers share one
// request. An error of a caller's own context is not cached. A group version that failed without a
// response from the server is requested again; client-go caches a timeout until Invalidate.
package memory
