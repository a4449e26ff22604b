//go:build dropin

package conformance

// line says that module clientgo replaces client-go.
const line = true
