// Package arch has no code. Its tests check which package may import which, which packages must
// never be linked, and how large a small program may be.
package arch
