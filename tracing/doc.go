// Package tracing makes OpenTelemetry spans that follow a change. They lead from the event of the
// watch through queue and store to the handlers. From there they lead through the work queue to the
// end of the reconcile. The requests of the reconcile have spans as well.
//
//	traced, err := tracing.New(provider, tracing.Options{Ratio: 0.01})
//	client, err := rest.NewClient(config, rest.Options{Observer: traced.ClientObserver(nil)})
//	m, err := controller.New(client, controller.Options{Observer: traced.ControllerObserver(nil)})
//
// A program that uses package controller needs nothing else. The provider is a
// trace.TracerProvider, for example from go.opentelemetry.io/otel/sdk/trace. Without a
// manager, use [InformerOptions], [Handler] and [Tracing.Reconcile]. With metrics.Options.Traces,
// histograms of package metrics link to traces. Caches and controllers are identified by their
// names, so each manager needs its own Tracing. docs/tracing.md has a picture.
//
// The package is a separate module, so that only programs that import it require OpenTelemetry.
//
// # What a trace has
//
// A sampled change begins a trace. Its span is named "change", followed by the informer's name. It
// lasts from the event until the store has the change. The span has these children:
//
//   - "deltafifo" and "store": the wait between reflector and store, and the work of the store;
//   - "mailbox" and "handle" for each handler: the wait for its call, and the call;
//   - "workqueue": the wait of a key that a handler of a controller has added;
//   - "reconcile" for each reconcile, including failed ones. Its requests are its children.
//
// Changes are merged: one reconcile handles all changes since the last one. Its span belongs to the
// trace of the oldest sampled change. It has links to the last 15 other changes, and the number of
// all changes. After a failed reconcile, the next one handles the same changes, and has a link to
// the failed one.
//
// An object of a list, at the start or in a relist, has no trace, because it does not come as an
// event. A key that a handler adds later, in another goroutine, has no trace either.
//
// # Guarantees
//
//   - An event that is not sampled allocates nothing.
//   - The function that starts a span also ends it. Only the spans of reconciles and requests stay
//     open for some time, while these run.
//   - Options.MaxOpen limits the memory, and so does a limit of 16 changes of one object. [Stats]
//     counts the changes that were dropped because of these limits.
//   - Attributes have the namespace and the name of an object, its resourceVersion and its
//     resource. Options.WithoutNames leaves out namespace and name. They contain no other data of
//     the object, and no error text.
//   - There is no process-wide provider, no goroutine, and nothing to close.
package tracing
