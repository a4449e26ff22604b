// Package testsize says how much of a long test runs. `make test` passes -short: it runs only a
// sample of random walks and of large matrices, so that it takes minutes. `make test-all` runs all
// of them.
package testsize

import "testing"

// Scale returns its first argument, or in a short run the second one. The number may be the rounds
// of a random walk, or the cases of a matrix. It may be called only after flags have been parsed.
func Scale[N ~int | ~int64 | ~uint64](full, short N) N {
	if testing.Short() {
		return short
	}
	return full
}

// SkipIfShort skips a long test in a short run. reason says why the test takes long.
func SkipIfShort(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() {
		t.Skip(reason + "; make test-all runs this test")
	}
}

// Sample returns the cases to run: all cases or, in a short run, every nth case, starting with the
// first.
func Sample[T any](cases []T, nth int) []T {
	if !testing.Short() {
		return cases
	}
	var sample []T
	for i := 0; i < len(cases); i += nth {
		sample = append(sample, cases[i])
	}
	return sample
}
