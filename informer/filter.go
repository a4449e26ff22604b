package informer

// Filter returns a handler that knows only of objects for which keep is true, as
// if there were no others (SI-28): an update that makes keep true is an Added, and
// one that makes it false is a Deleted. keep must depend on nothing but the
// object.
//
//	inf.AddHandler(informer.Filter(onThisNode, handle), informer.HandlerOptions{})
//
// The handler is told of a deletion exactly if it was told of the object before:
// keep is asked of Old. (client-go asks it of the last state, which may differ, and
// so may forget to tell.) New of a Deleted that is none on the server is the state
// that is not kept.
//
// Where keep or handle is nil, so is the handler, which AddHandler refuses.
//
// Package predicate has filters for events, which are about what has changed.
// Objects that nobody wants should rather not be sent by the server: see the
// selectors of package rest.
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
