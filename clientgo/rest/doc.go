// Package rest is client-go's client for the API, under client-go's names. A [Config] describes a
// client, a [RESTClient] is made from it, and a [Request] is built step by step and then sent.
//
// Requests go through an [http.Client] that a program may supply, wrap and replace. kinform's
// package rest cannot send them, because its Client owns its connections. kinform does decode the
// lists and watches; see decode.go.
package rest
