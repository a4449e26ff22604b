package tracing

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/propagation"
)

// Options are the options of a [Tracing]. The zero value is ready for use.
type Options struct {
	// Ratio is the fraction of changes that are traced, from 0 to 1. The decision is made when a
	// change is received. The sampler of the provider can only reduce the fraction. With a negative
	// Ratio, no change is traced. Defaults to 0.01.
	Ratio float64

	// WithoutNames leaves namespaces and names of objects out of the attributes. Defaults to false.
	WithoutNames bool

	// Propagator writes the trace into the headers of a reconcile's requests, so that a server with
	// tracing can continue the trace. For example, propagation.TraceContext{} writes traceparent.
	// Defaults to nil: no header.
	Propagator propagation.TextMapPropagator

	// MaxOpen is the maximum number of traced changes, and of traced keys in each queue. Beyond the
	// maximum, the oldest changes are dropped, and further keys are not traced. Defaults to 1,000.
	// See [Stats].
	MaxOpen int

	// MaxAge is how long a change may wait for handlers, and then again for its reconcile. A change
	// that waits longer is dropped. Defaults to 10 minutes.
	MaxAge time.Duration

	// MaxAttempts is the maximum number of failed reconciles in a row that are traced for the same
	// changes. Defaults to 10.
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
