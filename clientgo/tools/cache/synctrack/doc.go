// Package synctrack reports when a controller has synced, which means that every object of an
// informer's initial list has been processed.
package synctrack
