package main

import (
	"time"

	"github.com/kinform/kinform/bench/internal/roundorder"
)

// These are the sides of a measurement.
const (
	byClientGo = iota
	byKinform
	byTextbook
)

// measurement has the cost of a row on each side, once for each run.
type measurement [3][]figure

// measure measures a row on all sides repeatedly. The two compared sides follow each other.
func (r row) measure(objects, runs int, period time.Duration) (m measurement, err error) {
	ours, err := newKinform(objects)
	if err != nil {
		return m, err
	}
	sides := [...]side{byClientGo: newClientGo(objects), byKinform: ours, byTextbook: newTextbook(objects)}
	for n := range runs {
		for _, i := range roundorder.Of(n, []int{byClientGo, byKinform}, byTextbook) {
			m[i] = append(m[i], r.run(sides[i], objects, period))
		}
	}
	return m, nil
}

// ratios returns the ratios of kinform to client-go, run by run.
func (m measurement) ratios() (all []float64) {
	for n, theirs := range m[byClientGo] {
		all = append(all, m[byKinform][n].nanoseconds/theirs.nanoseconds)
	}
	return all
}
