// Package versions has only tests. A go.mod is part of a library's contract, because version
// selection may raise versions of other modules in a program. The tests compute which versions
// kinform raises.
package versions
