// Package openapi gets the OpenAPI v3 documents of an API server.
package openapi
