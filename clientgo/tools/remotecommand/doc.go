// Package remotecommand runs a command in a container, or attaches to a running container. It
// transfers the standard streams, the terminal sizes and the exit code.
//
// The names are client-go's. The streams use a websocket, or SPDY for servers without websockets.
// [NewFallbackExecutor] tries a websocket first, and SPDY if that fails.
package remotecommand
