// Package testing has an HTTP handler that plays a server's answer, a server of OpenAPI documents, and temporary files,
// for tests.
package testing
