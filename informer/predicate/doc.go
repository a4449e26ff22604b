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
// Predicates about a change let every Added and every Deleted pass, but no resync, because a resync
// changes nothing. Any with [CausedBy] lets resyncs pass. Old of an event is always the state right
// before the event, even if the predicate has dropped earlier events. So it need not be the state
// that the handler last received. Predicates have no state: they compare only the two states in the
// event.
//
// To choose objects rather than changes use [informer.Filter]. It reports an object that begins or
// stops to match as Added or Deleted.
package predicate
