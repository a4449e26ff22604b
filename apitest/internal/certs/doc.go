// Package certs makes the certificates of one API server of package apitest: a CA, and two
// certificates that the CA has signed, for the server and for clients.
//
// [Certificates] is immutable, and its method Config returns the server's TLS configuration.
package certs
