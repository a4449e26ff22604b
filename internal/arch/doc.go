// Package arch has no code. Its tests keep the module in shape: who may import
// whom, what must never be linked, and how large a small program may become.
package arch
