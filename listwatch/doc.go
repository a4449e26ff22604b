// Package listwatch is the interface between a server and a reflector: a typed list and a typed
// watch of one resource. The reader pulls both item by item.
//
// A [Source] answers two questions. List: which objects exist now? Watch: what has changed since?
// Package rest implements Source over HTTP for a Kubernetes API server. A test, a file or another
// kind of server can implement it as well. Nothing here depends on HTTP or on Kubernetes'
// encodings. The type argument T has no constraint, because [Item] carries an object's identity and
// version beside the object. So T may be a full API type, a slim struct with three fields, or a
// map.
//
// # Contract of a stream
//
//   - Streams are pulled: Next blocks until there is a result. A slow reader slows the sender down,
//     through the socket.
//   - Only one goroutine at a time may call Next. When the context that opened the stream is
//     cancelled, a blocked Next returns at once with the context's error.
//   - Next returns [io.EOF] when the server ended the stream in good order. It returns an
//     [*ObjectError] when one object is undecodable and the stream goes on. Any other error means
//     that the stream has failed. After io.EOF or such a failure, every call returns the same
//     error.
//   - Close releases the connection, buffers and goroutines of the stream, and returns when all are
//     released. It may be called at any time after the last Next returned, and more than once.
//
// # Identity is read from the bytes
//
// The key and the resourceVersion of an [Item] are read from the bytes on the wire, before the
// object is decoded. This has three uses. Objects that the caller already has need no decoding (see
// [ListOptions].Known). An undecodable object still has a name. And a projection may remove
// metadata from the object without losing the version.
package listwatch
