// Package transport opens the connections of a client to one server, and closes them.
//
//   - [Pool] has the http.Transport that requests go through: with its dialer, its
//     proxy and its TLS. When an authority or a client certificate changes, new requests
//     go through another http.Transport, and open streams stay where they are.
//   - [Security] is what TLS is made with, as it was read from memory or from files.
//   - [Files] has files read again, at most once a minute, by requests that need them.
//
// # Guarantees
//
//   - After [Pool.Close] no connection is open, and none is opened.
//   - A disk that does not answer holds up a request for a second at most, once something
//     has been read. What was read last stays in use while the files cannot be read.
//   - A peer that is gone without a word is noticed, on HTTP/2, within 45 seconds.
//   - No lock is held while files are read, or a function of the user runs.
package transport
