// Package internal has the code that the generated packages of applyconfigurations share.
package internal

// Append adds values to a list. It panics if a value is nil, which is a mistake in the caller's
// code.
func Append[T any](method string, list []T, values []*T) []T {
	for _, value := range values {
		if value == nil {
			panic("nil value passed to " + method)
		}
		list = append(list, *value)
	}
	return list
}

// Put adds entries to a map and returns the map. If the map is nil and there are entries, Put makes
// a map.
func Put[K comparable, V any](held, entries map[K]V) map[K]V {
	if held == nil && len(entries) > 0 {
		held = make(map[K]V, len(entries))
	}
	for key, value := range entries {
		held[key] = value
	}
	return held
}
