// Package versions has no code. Its tests compute which versions of other modules version selection raises in a program, when
// kinform comes into it: a go.mod is part of a library's contract.
package versions
