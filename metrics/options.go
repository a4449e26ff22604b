package metrics

import (
	"cmp"
	"fmt"
	"slices"
)

// Options are the choices of a [Metrics]. The zero value works.
type Options struct {
	// FamiliarNames adds the metrics of client-go and controller-runtime, by their names,
	// labels, types, buckets and help texts, so that dashboards and alerts that are made for
	// these go on working: workqueue_*, controller_runtime_*, rest_client_* and
	// leader_election_*. docs/metrics.md says which, and where a number differs. Defaults to
	// false: kinform's own names alone.
	FamiliarNames bool

	// Buckets are the upper bounds of the buckets of kinform's histograms, in seconds and
	// rising. Defaults to 15 from 100 microseconds to 5 minutes. The familiar histograms
	// have those of the originals.
	Buckets []float64

	// NativeHistograms gives kinform's histograms native buckets beside those, which
	// Prometheus sees where it scrapes with protobuf. Defaults to false. The familiar
	// histograms have them in any case, as the originals do.
	NativeHistograms bool

	// Holders adds kinform_lease_holder_info, with the identity of the leader as a label.
	// There is a new series for each leader, and identities are new with each process, which is
	// why it is a choice: which of the processes that are scraped leads, kinform_lease_leading
	// says. Defaults to false.
	Holders bool

	// Traces knows which trace an event or a turn is of, as a *tracing.Tracing does. The histograms
	// of handlers and of queues, the familiar ones too, get its id as the exemplar "trace_id" of
	// an observation. Prometheus sees exemplars where promhttp.HandlerOpts.EnableOpenMetrics is
	// set. Defaults to nil: no exemplars.
	Traces Traces

	// MaxParts is how many informers, queues, clients and so on, of each kind, have
	// metrics, and how many series a part can get for what a server or a program names:
	// priorities, resources, handlers, indexes. Of more, the first ones do, all others share
	// one name in histograms, "other", and kinform_metrics_left_out says how many there are.
	// Defaults to 500.
	MaxParts int
}

// defaultBuckets are a little less than a factor of three apart, from a handler that only
// fills a queue to a reconcile that waits for something outside.
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
