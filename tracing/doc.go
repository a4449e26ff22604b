// Package tracing makes OpenTelemetry spans of the way of a change: from the event of the watch
// through queue and store to the handlers, through the work queue, to the end of the
// reconcile that answers it, with the requests of that.
//
//	traced, err := tracing.New(provider, tracing.Options{Ratio: 0.01})
//	client, err := rest.NewClient(config, rest.Options{Observer: traced.ClientObserver(nil)})
//	m, err := controller.New(client, controller.Options{Observer: traced.ControllerObserver(nil)})
//
// That is all of a program on package controller. provider is a trace.TracerProvider, such as one
// of go.opentelemetry.io/otel/sdk/trace. Without a manager, see [InformerOptions], [Handler] and
// [Tracing.Reconcile]. Histograms of package metrics can lead to traces, by metrics.Options.Traces.
// Caches and controllers are told apart by their names, so each manager has a Tracing of its own.
// docs/tracing.md has a picture.
//
// The package is a module of its own, so that only programs that import it require OpenTelemetry.
//
// # What a trace has
//
// A change that is chosen begins a trace. Its span, "change" and the informer's name, is from the
// event to the store; its children are
//
//   - "deltafifo" and "store": the wait between reflector and store, and the store's work;
//   - "mailbox" and "handle" for each handler: its wait, and its call;
//   - "workqueue": the wait of a key that a handler of a controller has added;
//   - "reconcile" for each turn, failed ones included, with the requests as children.
//
// Changes merge: one turn answers all changes since the last one. It is in the trace of the
// oldest of those that are traced, and has links to the others, the last 15, and the number of all. A
// turn that failed is followed by one with a link to it, which answers the same.
//
// What a list brought, at the start or after a relist, is no change that was received, and has no
// trace. Nor has what a handler adds to a queue later, in another goroutine.
//
// # Guarantees
//
//   - What is not sampled allocates nothing.
//   - Every span is ended by the function that has started it: none is open but those of
//     reconciles and requests that are going on.
//   - Memory is bounded by Options.MaxOpen, and by 16 changes of one object; what is dropped for that is counted, see [Stats].
//   - Attributes have namespace and name of an object, which can be left out, its
//     resourceVersion and its resource; nothing else of it, and no text of an error.
//   - There is no provider of the process, no goroutine, and nothing to close.
package tracing
