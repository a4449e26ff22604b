// Package transport opens the connections of a client to one server, and closes them.
//
//   - [Pool] has the http.Transport of requests, with dialer, proxy and TLS. When a CA bundle or a
//     client certificate changes, new requests use a new http.Transport, and open streams stay on
//     the old http.Transport.
//   - [TLS] has the CA bundle and the client certificate of TLS, from memory or files.
//   - [Decompress] reads compressed responses, and limits how much they expand.
//   - [Reloader] reloads files before requests, at most once a minute.
//
// # Guarantees
//
//   - After [Pool.Close] no connection is open, and the Pool opens no further connection.
//   - Once the files have been read, a disk that does not respond delays a request by at most a
//     second. While the files cannot be read, their last contents stay in use.
//   - On HTTP/2, the Pool closes a connection within 45 seconds if its peer vanishes without
//     closing it.
//   - The package holds no lock while it reads files or calls a user's function.
package transport
