// Package predicate has small functions that say of an event whether a handler
// cares, and puts them together:
//
//	handle = predicate.When(predicate.Any(
//		predicate.GenerationChanged[*appsv1.Deployment],
//		predicate.LabelsChanged,
//	), handle)
//
// A predicate is nothing but a func(informer.Event[T]) bool; write your own. It is
// called in the handler's goroutine, right before the handler.
//
// Those that are about a change let every Added and every Deleted pass, and no
// resync, since nothing has changed there; Any with [Because] lets resyncs pass.
// With events left out, Old of an event is still the state right before it, which
// need not be what the handler was told last. They keep no state: what they compare
// is in the event.
//
// To choose objects rather than changes use [informer.Filter], which turns an
// object's coming into sight and going out of it into Added and Deleted.
package predicate
