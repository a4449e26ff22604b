// Package effort says how much of a long test is played. `make test` passes -short and
// plays a sample of random walks and of big matrices, so that it takes minutes; `make
// test-all`, which CI runs, plays all of them.
package effort

import "testing"

// Of returns all, or few in a short run: the rounds of a random walk, the cases of a
// matrix. It is called by tests alone, after flags have been parsed.
func Of[N ~int | ~int64 | ~uint64](all, few N) N {
	if testing.Short() {
		return few
	}
	return all
}

// SkipUnlessAll skips, in a short run, what takes long for the reason given.
func SkipUnlessAll(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() {
		t.Skip(reason + "; make test-all plays it")
	}
}

// Samples returns the cases that are played: all of them, or in a short run every
// nth, counted from the first.
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
