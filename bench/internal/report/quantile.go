package report

import "cmp"

// Quantile returns the smallest value of a sorted slice that at least this share of the values does
// not exceed. It returns zero for an empty slice.
func Quantile[T cmp.Ordered](sorted []T, share float64) T {
	if len(sorted) == 0 {
		var zero T
		return zero
	}
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}
