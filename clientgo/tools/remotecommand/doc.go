// Package remotecommand runs a command in a container, or attaches to a running one. It transfers
// the standard streams, the terminal sizes and the exit code.
//
// The names are client-go's. The streams use a websocket, or SPDY for servers without websockets.
// [NewFallbackExecutor] tries one after the other.
package remotecommand
