// Package testing has the parts of fake clients. Actions record the calls of a client, reactors
// compute their results, and an ObjectTracker is a small store of objects with watches.
//
// A fake client is for tests that check which calls were made, or that need prepared results. It
// does not validate objects or set defaults, and it does not treat status as a separate
// subresource. For tests that need the behavior of a server, github.com/kinform/kinform/apitest is
// an API server inside the process.
package testing
