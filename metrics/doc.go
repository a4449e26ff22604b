// Package metrics has Prometheus collectors for every stage of kinform: client, reflector, the
// queue behind it, store, handlers, work queue, controllers, lease, events.
//
//	collected, err := metrics.New(metrics.Options{})
//	registry := prometheus.NewRegistry()
//	registry.MustRegister(collected, collectors.NewGoCollector())
//
//	client, err := rest.NewClient(config,
//		rest.Options{Observer: collected.ClientObserver("manager", nil)})
//	m, err := controller.New(client, controller.Options{Observer: collected.ControllerObserver()})
//	collected.Manager(m)
//	m.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
//
// A program that uses package controller needs nothing else. Each stage can also be observed
// separately, in two independent ways:
//
//   - At each scrape, the collector calls the methods Stats and Status of the parts. Between two
//     scrapes this costs nothing. Use [Metrics.Client], [Metrics.Informer], [Metrics.Factory],
//     [Metrics.Queue], [Metrics.Elector], [Metrics.Recorder] and [Metrics.Manager]. For stages
//     without an informer, use [Metrics.Reflector], [Metrics.FIFO] and [Metrics.Store].
//   - Histograms, and counts by status code or reason, need an observer. Pass one of these
//     observers to the constructor of the stage: [Metrics.ClientObserver], [InformerOptions],
//     [QueueObserver], [Metrics.ElectorObserver], [Metrics.RecorderObserver],
//     [Metrics.ControllerObserver].
//
// docs/metrics.md has a table of all metrics, queries for common problems, alert rules and a
// Grafana dashboard. Options.ClientGoNames adds the names of client-go and controller-runtime.
//
// The package is a separate module, so that only programs that import it require Prometheus'
// client.
//
// # Guarantees
//
//   - No name and no number of parts makes a scrape fail.
//   - No label contains the name of an object, a path, or a text that a server chose.
//     Options.MaxParts limits the number of label values that are not fixed, such as resources,
//     status codes and priorities. Values beyond the limit share one series, or are left out and
//     counted.
//   - Observers add no allocations for an event, for an object of a list, or for a reconcile.
//   - As long as a part exists, its counters only rise. A new part of the same name begins with 0,
//     which Prometheus recognizes as a reset.
//   - After remove has been called, scrapes no longer read the part. Counts from observers stay,
//     because the part may still be running.
//   - There is no process-wide registry, no goroutine, and nothing to close.
//
// Names begin with kinform_ and the stage. Units are seconds and bytes, and counters end with
// _total. A boolean is 1 or 0.
package metrics
