// Package certificate keeps the certificate of a client or a server valid. Before the certificate
// expires, it requests a new certificate from the API server's signers (package csr), and stores
// it.
package certificate
