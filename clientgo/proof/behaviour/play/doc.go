// Package play runs random histories on the parts of a client-go, and writes a trace of the
// results. It is built twice: with module clientgo, and with client-go itself. Package behaviour
// compares the two traces.
//
// A trace must depend only on the seed. If client-go's order is that of a Go map, the trace is
// sorted.
package play
