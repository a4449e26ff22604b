// Package rest lists, watches and changes the objects of a Kubernetes API server
// over HTTP, in protobuf and JSON.
package rest
