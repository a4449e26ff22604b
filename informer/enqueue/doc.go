// Package enqueue has the handlers by which a controller fills its queue:
//
//	websites.AddHandler(enqueue.Object[*Website](queue), informer.HandlerOptions{})
//	deployments.AddHandler(enqueue.Owner[*appsv1.Deployment](queue, websiteKind), informer.HandlerOptions{})
//
// [Object] adds the key of what has changed, [Owner] that of what controls it, and
// [Map] whichever keys a function tells. A handler is nothing but a
// func(informer.Event[T]); put others around it, such as those of package predicate
// and [informer.Filter].
//
// # What is added
//
// A key, and never the event: a queue that knows keys can merge what happened to one,
// and a worker that begins with a key reads the newest state from the store. By the
// time a handler runs, that has what the event tells, or something newer (G3). So a
// key means only "look again", and an update and a deletion are added alike.
//
// # Why, and how urgently
//
// The cause in [workqueue.AddOptions] is that of the event, such as "watch", so that
// [workqueue.Item] tells it. An event that is no news, because a handler began (Initial) or
// asked to be told again (Resync), has [workqueue.LowPriority]; a change on
// the server (Watch, Relist) has 0, and overtakes it.
package enqueue
