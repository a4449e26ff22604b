package metrics

import (
	"cmp"
	"fmt"
	"slices"
)

// Options are the options of a [Metrics]. The zero value is ready for use.
type Options struct {
	// ClientGoNames adds the metrics of client-go and controller-runtime with the original names,
	// labels, types, buckets and help texts: workqueue_*, controller_runtime_*, rest_client_* and
	// leader_election_*. Existing dashboards and alerts then continue to work. docs/metrics.md
	// lists the metrics and the differences in numbers. Defaults to false: kinform's own names
	// only.
	ClientGoNames bool

	// Buckets are the upper bounds of the buckets of kinform's histograms, in seconds and in rising
	// order. Defaults to 15 buckets from 100 microseconds to 5 minutes. client-go's histograms
	// always have the original buckets.
	Buckets []float64

	// NativeHistograms adds native buckets to kinform's histograms. Prometheus gets them if it
	// scrapes with protobuf. client-go's histograms always have native buckets, like the originals.
	// Defaults to false.
	NativeHistograms bool

	// Holders adds kinform_lease_holder_info, which has the identity of the leader as a label. It
	// is optional because each new leader is a new series, and each process has a new identity.
	// Without it, the metric kinform_lease_leading says which of the scraped processes leads.
	// Defaults to false.
	Holders bool

	// Traces returns the traces of events and reconciles; a *tracing.Tracing is one. The histograms
	// of handlers and queues then have exemplars with the trace's id, under the name "trace_id".
	// client-go's histograms of queues have them too. Prometheus reads exemplars if
	// promhttp.HandlerOpts.EnableOpenMetrics is set. Defaults to nil: no exemplars.
	Traces Traces

	// MaxParts is the maximum number of parts of each kind with metrics: informers, queues, clients
	// and so on. It also limits the series of a part if a server or a program chooses their names:
	// priorities, resources, handlers, indexes. The first MaxParts names get their own metrics. In
	// histograms, all other names share the name "other". kinform_metrics_left_out counts these
	// names. Defaults to 500.
	MaxParts int
}

// On average, each of the defaultBuckets is three times the previous one. They cover durations from
// a handler that only fills a queue to a reconcile that waits for an external system.
var defaultBuckets = []float64{0.0001, 0.00025, 0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10, 30, 60, 120, 300}

func (o Options) withDefaults() (Options, error) {
	o.MaxParts = cmp.Or(o.MaxParts, 500)
	if o.MaxParts < 0 {
		return o, fmt.Errorf("metrics: Options.MaxParts is %d: it must not be negative", o.MaxParts)
	}
	o.Buckets = slices.Clone(o.Buckets)
	if len(o.Buckets) == 0 {
		o.Buckets = defaultBuckets
	}
	for i, bound := range o.Buckets {
		if bound != bound || i > 0 && bound <= o.Buckets[i-1] {
			return o, fmt.Errorf("metrics: Options.Buckets are %v: they must rise", o.Buckets)
		}
	}
	return o, nil
}
