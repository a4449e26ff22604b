//go:build dropin

package conformance

// line says whether module clientgo replaces client-go.
const line = true
