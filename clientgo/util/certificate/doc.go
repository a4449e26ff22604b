// Package certificate keeps the certificate of a client or a server valid. It requests a new
// certificate from the API server's signers in time (package csr), and stores it.
package certificate
