// Package history checks the guarantees of an informer during a test. A [Witness] checks them for a
// handler, and [States] checks them for readers.
//
// It is used in virtual time against apitest, and against a real API server.
package history
