// Package transport makes the transports of clients: TLS, credentials, and the logging of requests.
//
// Its names are client-go's. A transport is an [http.Transport] inside of round trippers, each of
// which adds one thing to a request. Wrappers of programs rely on these layers. kinform's own
// client has no layers, so this package cannot use its transports. Configurations with equal
// settings share one http.Transport, and its connections.
//
// Files of tokens, certificates and CA bundles are read again by the first request that finds them
// outdated. No goroutine watches them. A timer also reads certificate files while the transport is
// in use.
package transport
