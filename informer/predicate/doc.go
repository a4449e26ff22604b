// Package predicate has small functions that decide whether a handler gets an event, and combines
// them:
//
//	handle = predicate.When(predicate.Any(
//		predicate.GenerationChanged[*appsv1.Deployment],
//		predicate.LabelsChanged,
//	), handle)
//
// A predicate is just a func(informer.Event[T]) bool; write your own. It is called in the handler's
// goroutine, right before the handler.
//
// Predicates about a change let every Added and every Deleted pass, but no resync, because nothing
// changed there. Any with [Because] lets resyncs pass. Even if events are left out, Old of an event
// is the state right before it. It need not be the state that the handler last received. Predicates
// have no state: they compare only what is in the event.
//
// To choose objects rather than changes use [informer.Filter]. It reports an object that begins or
// stops to match as Added or Deleted.
package predicate
