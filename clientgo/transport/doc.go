// Package transport makes the connections of clients: TLS, credentials, and what is logged of requests.
//
// Its names are client-go's. A transport is an [http.Transport] inside of round trippers, each of which adds one thing to a
// request: that is the contract on which wrappers of programs rely, and so there are no transports of kinform's own client here,
// which has no such layers. Two configurations that say the same share one http.Transport, and so its connections.
//
// Files of tokens, certificates and authorities are read again by the request that finds them old; no goroutine watches them.
// Those of certificates are also read by a timer, as long as somebody has the transport.
package transport
