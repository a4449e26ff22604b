// Package listwatch is the port between a server and a reflector: a list and a
// watch of one resource, both pulled item by item, both typed.
//
// A [Source] answers two questions. List: what is there now? Watch: what has
// changed since? Package rest answers them over HTTP from a Kubernetes API
// server; a test, a file or another kind of server can answer them as well.
// Nothing here depends on HTTP or on Kubernetes' encodings, and a type argument
// T has no constraint: identity and version of an object travel beside it, in
// [Item], so that T may be a full API type, a slim struct with three fields, or
// a map.
//
// # Contract of a stream
//
//   - Streams are pulled. Next blocks until there is something to say; nothing
//     is pushed, so a slow reader slows the sender down, through the socket.
//   - Next is called from one goroutine at a time. Cancelling the context that
//     opened the stream makes a blocked Next return at once with the context's
//     error.
//   - Next answers with [io.EOF] when the server ended the stream in an orderly
//     way, with an [*ObjectError] when one object could not be read and the
//     stream goes on, and with any other error when the stream is over. Once it
//     has answered with io.EOF or an error that is not an *ObjectError, it
//     answers the same for ever.
//   - Close releases everything that the stream holds (connection, buffers,
//     goroutines) and returns when it is gone. It may be called at any time
//     after the last Next returned, and again.
//
// # Where the bytes say who they are
//
// An [Item] carries key and resourceVersion read from the bytes on the wire,
// before the object is decoded. That serves three ends: objects that the caller
// already has need no decoding (see [ListOptions].Known), an object that cannot
// be decoded is still known by name, and a projection that removes metadata from
// the object cannot confuse anyone about its version.
package listwatch
