// Package metrics has collectors for Prometheus for every stage of kinform: client, reflector,
// the queue behind it, store, handlers, work queue, controllers, lease, events.
//
//	collected, err := metrics.New(metrics.Options{})
//	registry := prometheus.NewRegistry()
//	registry.MustRegister(collected, collectors.NewGoCollector())
//
//	client, err := rest.NewClient(config, rest.Options{Observer: collected.ClientObserver("manager", nil)})
//	m, err := controller.New(client, controller.Options{Observer: collected.ControllerObserver()})
//	collected.Manager(m)
//	m.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
//
// That is all of a program on package controller. Every stage can be had alone as well, in
// two steps, of which either can be left out:
//
//   - What its Stats or Status tell is read when Prometheus scrapes, and costs nothing between
//     two scrapes: [Metrics.Client], [Metrics.Informer], [Metrics.Factory], [Metrics.Queue],
//     [Metrics.Elector], [Metrics.Recorder], [Metrics.Manager], and for stages without an
//     informer [Metrics.Reflector], [Metrics.FIFO] and [Metrics.Store].
//   - Histograms, and counts by status code or reason, need an observer, which is given to
//     the stage as it is made: [Metrics.ClientObserver], [InformerOptions], [QueueObserver],
//     [Metrics.ElectorObserver], [Metrics.RecorderObserver], [Metrics.ControllerObserver].
//
// docs/metrics.md has the table of all metrics, what to ask them when something is wrong, alert
// rules and a dashboard for Grafana. Options.FamiliarNames adds the names of client-go and
// controller-runtime.
//
// The package is a module of its own, so that only programs that import it require Prometheus' client.
//
// # Guarantees
//
//   - A scrape does not fail because of what parts are named, or of how many there are.
//   - No label has the name of an object, a path, or a text that a server chose. What is not
//     known beforehand, such as resources, status codes and priorities, is bounded by
//     Options.MaxParts; what is beyond that shares one series, or is left out and counted.
//   - An event, an object of a list and a turn of a key allocate no more with all observers
//     than without any.
//   - Counters only rise while their part lives. One that is made anew under the same name
//     begins with 0, which Prometheus takes for what it is.
//   - What is taken out by remove is not read any more. What observers have counted stays, as
//     their parts may still run.
//   - There is no registry of the process, no goroutine, and nothing to close.
//
// Names begin with kinform_ and the stage; units are seconds and bytes; counters end with
// _total; what is either so or not is 1 or 0.
package metrics
