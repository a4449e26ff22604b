// Package listwatch is the port between a server and a reflector: a list and a
// watch of one resource, both pulled item by item, both typed.
//
// A [Source] answers two questions. List: which objects are there now? Watch: which
// of them have changed since? Package rest answers them over HTTP from a Kubernetes API
// server; a test, a file or another kind of server can answer them as well. Nothing here
// depends on HTTP or on Kubernetes' encodings. A type argument T has no constraint,
// because identity and version of an object are beside it, in [Item]. So T may be a full
// API type, a slim struct with three fields, or a map.
//
// # Contract of a stream
//
//   - Streams are pulled. Next blocks until there is a result; nothing is pushed, so
//     that a slow reader slows the sender down, through the socket.
//   - Next is called from one goroutine at a time. Cancelling the context that
//     opened the stream makes a blocked Next return at once with the context's
//     error.
//   - Next returns [io.EOF] when the server ended the stream in good order, an
//     [*ObjectError] when one object could not be read and the stream goes on, and
//     another error when the stream has failed. After io.EOF or an error that is not an
//     *ObjectError, every call returns the same.
//   - Close releases everything that the stream holds (connection, buffers,
//     goroutines), and returns when all of it is released. It may be called at any time
//     after the last Next returned, and again.
//
// # Identity is read from the bytes
//
// An [Item] has a key and a resourceVersion that were read from the bytes on the wire,
// before the object was decoded. That has three uses. Objects that the caller already has
// need no decoding (see [ListOptions].Known). An object that cannot be decoded still has
// a name. And a projection may remove metadata from the object, while the version stays
// right.
package listwatch
