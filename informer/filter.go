package informer

// Filter returns a handler that receives only the events of objects for which the function keep
// returns true, as if no other objects existed (SI-28). If the function returns true only after an
// update, the update becomes an Added. If it returned true only before the update, it becomes a
// Deleted. The result of keep must depend only on the object.
//
//	inf.AddHandler(informer.Filter(onThisNode, handle), informer.HandlerOptions{})
//
// The handler receives a deletion if and only if it has received the object: keep is called with
// Old. (client-go calls its filter with the last known state, which may differ from Old, so it may
// skip the deletion.) If the object still exists on the server, New of the Deleted is the state
// that keep rejects.
//
// If keep or handle is nil, the returned handler is nil, which AddHandler refuses.
//
// Package predicate has filters for events, which look at what has changed. Prefer selectors, so
// that the server does not send unwanted objects: see package rest.
func Filter[T any](keep func(T) bool, handle func(Event[T])) func(Event[T]) {
	if keep == nil || handle == nil {
		return nil
	}
	return func(e Event[T]) {
		was := e.Type != Added && keep(e.Old)
		is := e.Type != Deleted && keep(e.New)
		switch {
		case was && is:
		case was:
			e.Type = Deleted
		case is:
			var none T
			e.Type, e.Old = Added, none
		default:
			return
		}
		handle(e)
	}
}
