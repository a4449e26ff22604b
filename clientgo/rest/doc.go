// Package rest is client-go's client for the API, with its names: a [Config], a [RESTClient] made of it, and a [Request] that is
// built step by step and then sent.
//
// Requests go through an [http.Client] that a program may give, wrap and replace. So the package has an exchange of its own, and
// not that of kinform's package rest, whose Client owns its connections. What decodes lists and watches is kinform's; see decode.go.
package rest
