// Package tracing makes OpenTelemetry spans that follow a change. They lead from the event of the
// watch through queue and store to the handlers, and from there through the work queue to the end
// of the reconcile. The requests of the reconcile have spans as well.
//
//	traced, err := tracing.New(provider, tracing.Options{Ratio: 0.01})
//	client, err := rest.NewClient(config, rest.Options{Observer: traced.ClientObserver(nil)})
//	m, err := controller.New(client, controller.Options{Observer: traced.ControllerObserver(nil)})
//
// A program on package controller needs nothing else. The provider is a trace.TracerProvider, for
// example the one of go.opentelemetry.io/otel/sdk/trace. Without a manager, use [InformerOptions],
// [Handler] and [Tracing.Reconcile]. With metrics.Options.Traces, histograms of package metrics
// link to traces. Caches and controllers are identified by name, so each manager needs a Tracing of
// its own. docs/tracing.md has a picture.
//
// The package is a module of its own, so that only programs that import it require OpenTelemetry.
//
// # What a trace has
//
// A sampled change begins a trace. Its span is named "change" and the informer's name, and lasts
// from the event to the store. The span has these children:
//
//   - "deltafifo" and "store": the wait between reflector and store, and the work of the store;
//   - "mailbox" and "handle" for each handler: the wait for its call, and the call;
//   - "workqueue": the wait of a key that a handler of a controller has added;
//   - "reconcile" for each reconcile, failed ones included, with its requests as children.
//
// Changes merge: one reconcile handles all changes since the last one. Its span is in the trace of
// the oldest sampled change, and has links to the last 15 others and the number of all changes.
// After a failed reconcile, the next one handles the same changes, and has a link to the failed
// one.
//
// An object from a list, at the start or in a relist, did not come as an event, and has no trace. A
// key that a handler adds later, in another goroutine, has no trace either.
//
// # Guarantees
//
//   - An event that is not sampled allocates nothing.
//   - Every span is ended by the function that started it. Only spans of running reconciles and
//     requests are open.
//   - Memory is bounded by Options.MaxOpen, and by 16 changes of one object. [Stats] counts the
//     changes that were dropped because of these limits.
//   - Attributes have the namespace and name of an object, which can be left out, its
//     resourceVersion and its resource. They contain no other data of the object, and no error
//     text.
//   - There is no process-wide provider, no goroutine, and nothing to close.
package tracing
