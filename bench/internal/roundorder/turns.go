// Package roundorder chooses the order in which sides are measured.
package roundorder

import "slices"

// Of returns the order of a round. The compared sides follow each other, and another side comes
// first in each round. aside has no ratio. It comes before or after all compared sides, so that it
// never separates them. In twice as many rounds as there are compared sides, each order occurs
// once.
func Of[S any](round int, compared []S, aside S) []S {
	n := len(compared)
	first := round % n
	order := append(slices.Clone(compared[first:]), compared[:first]...)
	if (first+round/n)%2 == 1 {
		return append([]S{aside}, order...)
	}
	return append(order, aside)
}
