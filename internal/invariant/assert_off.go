//go:build !invariants

package invariant

// Enabled says whether checks run: it is true in builds with the tag "invariants".
const Enabled = false
