// Package remotecommand runs a command in a container, or attaches to one, and carries its standard streams, the sizes of its terminal and its exit code.
//
// Its names are client-go's. The streams go over a websocket, or over SPDY for servers that know no websockets; [NewFallbackExecutor] tries one
// after the other.
package remotecommand
