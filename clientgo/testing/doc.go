// Package testing has what the fake clients are made of: actions (what a client was asked), reactors (what it answers), and
// an ObjectTracker (a small store of objects with watches).
//
// A fake client is for tests that check which calls were made, or that want prepared answers. It validates nothing, sets
// no defaults and keeps no status apart. For a test that wants a server's behaviour, github.com/kinform/kinform/apitest
// is an API server inside the process.
package testing
