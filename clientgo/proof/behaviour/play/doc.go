// Package play plays random histories to the parts of a client-go, and writes down all that they answer. It is built
// twice: with module clientgo, and with client-go itself. Package behaviour compares what both have written.
//
// What it writes must depend on the seed alone: where client-go's order is that of a Go map, what is written is sorted.
package play
