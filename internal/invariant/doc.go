// Package invariant checks invariants of data structures in tests, and costs nothing in other
// builds.
//
// Building with the tag "invariants" switches the checks on:
//
//	go test -tags invariants ./...
//
// Without the tag, [Enabled] is the constant false, so that the compiler removes each [Check], and
// all code inside "if invariant.Enabled { ... }". Put a check there if computing its condition is
// work, such as a walk over a whole map.
//
// An invariant is about our own code. Invalid input is an error, and is never checked here.
package invariant

import "fmt"

// Check panics with the formatted message if cond is false and checks are
// enabled. The message says which rule is broken, and for what.
func Check(cond bool, format string, args ...any) {
	if Enabled && !cond {
		panic("broken invariant: " + fmt.Sprintf(format, args...))
	}
}
