// Package play runs random sequences of operations (histories) on parts of client-go, and writes a
// trace of the results. It is built twice: with module clientgo, and with client-go itself. Package
// behaviour compares the two traces.
//
// A trace must depend only on the seed. If client-go returns results in the order of a Go map, the
// trace has them sorted.
package play
