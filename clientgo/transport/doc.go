// Package transport makes the transports of clients: TLS, credentials, and the logging of requests.
//
// Its names are client-go's. A transport is an [http.Transport] inside of several round trippers.
// Each of them adds one thing to a request, such as a header. Wrappers of programs rely on these
// layers. kinform's own client has no layers, so this package cannot be built on it. Configurations
// with equal settings share one http.Transport, and its connections.
//
// The first request that finds a token, certificate or CA file outdated reads the file again. No
// goroutine watches the files. A timer also reads certificate files while the transport is in use.
package transport
