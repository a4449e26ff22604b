// Package history checks the guarantees of an informer during a test: for each handler by a
// [Witness], and for readers by [States].
//
// It is used in virtual time against apitest, and against a real API server.
package history
