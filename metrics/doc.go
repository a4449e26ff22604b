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
// A program on package controller needs nothing else. Each stage can also be observed alone, in two
// ways that are independent of each other:
//
//   - Stats and Status are read when Prometheus scrapes, and cost nothing between two scrapes:
//     [Metrics.Client], [Metrics.Informer], [Metrics.Factory], [Metrics.Queue], [Metrics.Elector],
//     [Metrics.Recorder] and [Metrics.Manager]. For stages without an informer, there are
//     [Metrics.Reflector], [Metrics.FIFO] and [Metrics.Store].
//   - Histograms, and counts by status code or reason, need an observer, which is passed to the
//     constructor of the stage: [Metrics.ClientObserver], [InformerOptions], [QueueObserver],
//     [Metrics.ElectorObserver], [Metrics.RecorderObserver], [Metrics.ControllerObserver].
//
// docs/metrics.md has a table of all metrics, queries for common problems, alert rules and a
// Grafana dashboard. Options.FamiliarNames adds the names of client-go and controller-runtime.
//
// The package is a module of its own, so that only programs that import it require Prometheus'
// client.
//
// # Guarantees
//
//   - A scrape does not fail because of the names or the number of parts.
//   - No label has the name of an object, a path, or a text that a server chose. Options.MaxParts
//     limits the number of label values that are not fixed, such as resources, status codes and
//     priorities. Values beyond the limit share one series, or are left out and counted.
//   - An event, an object of a list and a reconcile allocate no more with all observers than
//     without any.
//   - Counters only rise while their part lives. A new part of the same name begins with 0, which
//     Prometheus recognises as a reset.
//   - After a call of remove, scrapes no longer read the part. Counts from observers stay, because
//     their parts may still run.
//   - There is no process-wide registry, no goroutine, and nothing to close.
//
// Names begin with kinform_ and the stage. Units are seconds and bytes, and counters end with
// _total. A boolean is 1 or 0.
package metrics
