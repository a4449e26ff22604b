// Package guarantees checks the guarantees of an informer during a test. A [EventChecker] checks
// them for a handler, and [StateChecker] checks them for readers.
//
// It is used in virtual time against apitest, and against a real API server.
package guarantees
