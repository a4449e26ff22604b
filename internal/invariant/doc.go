// Package invariant checks, while testing, what must always be true of a data
// structure, and costs nothing otherwise.
//
// Building with the tag "invariants" switches the checks on:
//
//	go test -tags invariants ./...
//
// Without the tag [Enabled] is the constant false, so that the compiler removes
// each [Check] and whatever stands inside "if invariant.Enabled { ... }". Put a
// check there if finding out is itself work, such as a walk over a whole map.
//
// An invariant is about our own code. Input, however wrong, is answered with an
// error and never checked here.
package invariant

import "fmt"

// Check panics with the formatted message if cond is false and checks are
// enabled. The message says which rule is broken, and for what.
func Check(cond bool, format string, args ...any) {
	if Enabled && !cond {
		panic("broken invariant: " + fmt.Sprintf(format, args...))
	}
}
