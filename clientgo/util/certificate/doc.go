// Package certificate keeps a client's or a server's certificate valid: it asks the API server's signers for another one
// in time (package csr), and stores it.
package certificate
