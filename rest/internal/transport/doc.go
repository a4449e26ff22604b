// Package transport opens the connections of a client to one server, and closes them.
//
//   - [Pool] has the http.Transport that requests go through: with its dialer, its
//     proxy and its TLS. When an authority or a client certificate changes, new requests
//     go through another http.Transport, and open streams stay where they are.
//   - [Security] has the authorities and the client certificate of TLS, from memory or files.
//   - [Files] lets requests read files again, at most once a minute.
//
// # Guarantees
//
//   - After [Pool.Close] no connection is open, and none is opened.
//   - Once the files have been read, a disk that does not answer holds up a request for a
//     second at most. While the files cannot be read, their last contents stay in use.
//   - A peer that vanishes and closes no connection is noticed, on HTTP/2, within 45
//     seconds.
//   - No lock is held while files are read, or a function of the user runs.
package transport
