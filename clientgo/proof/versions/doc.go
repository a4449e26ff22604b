// Package versions tests which versions of other modules kinform raises in a program. It has only
// tests. A library's go.mod is part of its contract, because version selection may raise the
// versions of other modules in a program that uses the library.
package versions
