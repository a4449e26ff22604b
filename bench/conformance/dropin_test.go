//go:build dropin

package conformance

// dropin says whether module clientgo replaces client-go.
const dropin = true
