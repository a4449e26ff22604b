// Package effort says how much of a long test runs. `make test` passes -short: it runs only a
// sample of random walks and of large matrices, so that it takes minutes. `make test-all` runs all
// of them.
package effort

import "testing"

// Of returns its first argument, or in a short run the second one. The number may be the rounds of
// a random walk, or the cases of a matrix. It may be called only after flags have been parsed.
func Of[N ~int | ~int64 | ~uint64](all, few N) N {
	if testing.Short() {
		return few
	}
	return all
}

// SkipUnlessAll skips a long test in a short run. reason says why the test takes long.
func SkipUnlessAll(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() {
		t.Skip(reason + "; make test-all runs this test")
	}
}

// Samples returns the cases to run: all cases or, in a short run, every nth case, starting with the
// first.
func Samples[T any](cases []T, nth int) []T {
	if !testing.Short() {
		return cases
	}
	var sample []T
	for i := 0; i < len(cases); i += nth {
		sample = append(sample, cases[i])
	}
	return sample
}
