// Package memory remembers what an API server has, until it is told that this may have changed.
//
// It differs from client-go's package in four ways. A request is made without a lock held, so that a server that is slow keeps
// nobody from what is known, and from Invalidate. Several callers share one request. The error of a caller's own context is not
// remembered. A group version that failed without an answer of the server, for any reason, is asked for again; client-go remembers a
// timeout until Invalidate.
package memory
