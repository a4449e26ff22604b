// Package roundorder chooses the order in which sides are measured.
package roundorder

import "slices"

// Of returns the order in which a round measures the sides. The compared sides stay next to each
// other, and each round begins with another of them. aside is not compared, and comes before or
// after all the others. Over 2n rounds of n compared sides, each order occurs once.
func Of[S any](round int, compared []S, aside S) []S {
	n := len(compared)
	first := round % n
	order := append(slices.Clone(compared[first:]), compared[:first]...)
	if (first+round/n)%2 == 1 {
		return append([]S{aside}, order...)
	}
	return append(order, aside)
}
