// Package wire writes the responses of the API server of package apitest: objects, lists, tables,
// the events of watches, and the Status of an error, in JSON or protobuf.
//
// [Negotiate] chooses the [Format] of a response by the Accept header. The methods of a Format
// encode. Errors are of type *apierrors.StatusError, so that [WriteStatus] sends the Status that a
// Kubernetes server sends. The constructors in errors.go are those that apimachinery lacks.
//
// # Guarantees
//
//   - A revision keeps its encodings, so a list or an event writes bytes that exist already.
//   - A Format is a value, safe for concurrent use. Writing changes no object.
package wire
