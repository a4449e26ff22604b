// Package turns says in which order sides are measured.
package turns

import "slices"

// Of returns the order of a round. Those that are compared follow each other, and another of them comes first in
// each round; aside, which no ratio is about, is before or behind all of them, so that it never lies
// between two that are compared. In twice as many rounds as are compared, each order has its turn once.
func Of[S any](round int, compared []S, aside S) []S {
	n := len(compared)
	first := round % n
	order := append(slices.Clone(compared[first:]), compared[:first]...)
	if (first+round/n)%2 == 1 {
		return append([]S{aside}, order...)
	}
	return append(order, aside)
}
