// Package spdy upgrades requests to SPDY/3.1. A SPDY connection carries many streams in both
// directions. Servers without websocket support use it for exec and port forwarding.
//
// Its names are client-go's, and k8s.io/streaming implements SPDY itself. Functions whose names end
// in Streaming use that module's types. All other functions use apimachinery's types.
package spdy
