// Package synctrack tells when a controller has synced: when each object of an informer's initial list has been worked
// on.
package synctrack
