package report

import "cmp"

// Quantile returns the value of a sorted slice that this share of it is not greater
// than, and zero of an empty one.
func Quantile[T cmp.Ordered](sorted []T, share float64) T {
	if len(sorted) == 0 {
		var zero T
		return zero
	}
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}
