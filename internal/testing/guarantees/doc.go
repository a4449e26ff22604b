// Package guarantees checks the guarantees of an informer during a test. An [EventChecker] checks
// them for a handler, and a [StateChecker] checks them for readers of the store.
//
// The tests use it in virtual time against apitest, and against a real API server.
package guarantees
