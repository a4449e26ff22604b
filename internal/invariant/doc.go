// Package invariant checks invariants of data structures in tests, and costs nothing in other
// builds.
//
// Building with the tag "invariants" switches the checks on:
//
//	go test -tags invariants ./...
//
// Without the tag, [Enabled] is the constant false. The compiler then removes each [Check], and all
// code inside "if invariant.Enabled { ... }". A check whose condition is costly to compute, such as
// a walk over a whole map, belongs there.
//
// An invariant is a statement about our own code. Invalid input is an error, and is never checked
// here.
package invariant

import "fmt"

// Check panics with the formatted message if cond is false and checks are enabled. The message says
// which rule is broken, and by which value.
func Check(cond bool, format string, args ...any) {
	if Enabled && !cond {
		panic("broken invariant: " + fmt.Sprintf(format, args...))
	}
}
