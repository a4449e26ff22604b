// Package rest has a REST client for the Kubernetes API, with the names of client-go's package. A
// [Config] describes a client, a [RESTClient] is made from it, and a [Request] is built step by
// step and then sent.
//
// Requests go through an [http.Client] that a program may supply, wrap and replace. kinform's
// package rest cannot send them, because its Client owns its connections. But kinform decodes the
// lists and watches; see decode.go.
package rest
