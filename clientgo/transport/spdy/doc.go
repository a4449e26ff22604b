// Package spdy upgrades requests to SPDY/3.1, over which a connection has many streams in both directions. Servers that know no
// websockets take executed commands and forwarded ports that way.
//
// Its names are client-go's, and SPDY itself is that of k8s.io/streaming. Functions whose names end in Streaming have that module's types, the others have
// those of apimachinery.
package spdy
