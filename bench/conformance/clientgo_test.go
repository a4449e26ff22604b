//go:build !dropin

package conformance

// line says that module clientgo has client-go's place.
const line = false
