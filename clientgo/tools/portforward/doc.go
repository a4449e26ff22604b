// Package portforward listens on local ports, and forwards connections to ports of a pod.
//
// Its names are client-go's. All connections of a [PortForwarder] go through one connection to the API server, over SPDY, or over
// SPDY inside of a websocket. Functions whose names contain Streaming take dialers of k8s.io/streaming, the others those of apimachinery.
package portforward
