// Package decode turns the bytes of objects and events into values of a Go type.
//
//   - [Decoder] decodes one object. Its method choose says which decoder runs: the type's own
//     method, a sharing.Decoder, or the Decoder of a program.
//   - [Items] decodes the objects of lists and watches, within their budgets. It does not decode an
//     object that the caller already has. [Events] does so for the events of a watch.
//   - [KindChecker] compares the kind of each object with the expected kind.
//   - [Omission] removes parts of an object before it is decoded.
//   - [ReadStatus] and [TruncateStatus] read the failures that a server reports.
//
// Package rest makes the Items of each Resource, and wraps their errors with the request.
//
// # Guarantees
//
//   - The budget and the kind of an object are checked before any decoder runs.
//   - An object that cannot be decoded, or whose decoding panics, is a listwatch.ObjectError.
//   - A Decoder adds no allocation and no lock to the decoder that it calls.
package decode
