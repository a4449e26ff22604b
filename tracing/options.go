package tracing

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/propagation"
)

// Options are the choices of a [Tracing]. The zero value works.
type Options struct {
	// Ratio is which part of the changes is traced, from 0 to 1. It is decided as a change is
	// received; the sampler of the provider can only leave out more. Negative means none.
	// Defaults to 0.01.
	Ratio float64

	// WithoutNames leaves namespaces and names of objects out of the attributes. Defaults to
	// false.
	WithoutNames bool

	// Propagator writes the trace into the headers of the requests of a reconcile, so that a
	// server that traces goes on with it: propagation.TraceContext{} writes traceparent.
	// Defaults to nil: no header.
	Propagator propagation.TextMapPropagator

	// MaxOpen bounds how many changes, and how many keys of each queue, are followed at a time.
	// Of more changes, the oldest are followed no further; more keys are not followed. Defaults
	// to 1,000. See [Stats].
	MaxOpen int

	// MaxAge is for how long a change may wait for handlers, and then for its turn. What waits
	// longer is followed no further. Defaults to 10 minutes.
	MaxAge time.Duration

	// MaxAttempts is how many turns in a row that fail are traced for the same changes.
	// Defaults to 10.
	MaxAttempts int
}

func (o Options) withDefaults() (Options, error) {
	o.Ratio = cmp.Or(o.Ratio, 0.01)
	o.MaxOpen = cmp.Or(o.MaxOpen, 1000)
	o.MaxAge = cmp.Or(o.MaxAge, 10*time.Minute)
	o.MaxAttempts = cmp.Or(o.MaxAttempts, 10)
	switch {
	case !(o.Ratio <= 1):
		return o, fmt.Errorf("tracing: Options.Ratio is %v: it must not be above 1", o.Ratio)
	case o.MaxOpen < 0 || o.MaxAge < 0 || o.MaxAttempts < 0:
		return o, errors.New("tracing: Options.MaxOpen, MaxAge and MaxAttempts must not be negative")
	}
	return o, nil
}
