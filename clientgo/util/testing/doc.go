// Package testing has test helpers: an HTTP handler with a fixed response, a server of OpenAPI
// documents, and temporary files.
package testing
