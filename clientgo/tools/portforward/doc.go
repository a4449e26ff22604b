// Package portforward listens on local ports, and forwards connections to ports of a pod.
//
// The names are client-go's. All connections of a [PortForwarder] share one connection to the API
// server. It uses SPDY, or SPDY inside a websocket. Functions with Streaming in their names take
// dialers of k8s.io/streaming. The other functions take dialers of apimachinery.
package portforward
