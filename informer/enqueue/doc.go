// Package enqueue has the handlers with which a controller fills its queue:
//
//	websites.AddHandler(enqueue.Object[*Website](queue), informer.HandlerOptions{})
//	owner := enqueue.Owner[*appsv1.Deployment](queue, websiteKind)
//	deployments.AddHandler(owner, informer.HandlerOptions{})
//
// [Object] adds the key of the changed object, [Owner] the key of its controlling owner, and [Map]
// the keys that a function returns. A handler is a func(informer.Event[T]). Other functions can
// wrap a handler: [informer.Filter], and the predicates of package predicate.
//
// # What is added
//
// The queue gets a key, never the event. So the queue can merge several events of one key, and a
// worker that starts with a key reads the newest state from the store. By the time a handler runs,
// the store has the state of the event, or something newer (G3). So a key only says that the object
// needs another reconcile. Updates and deletions are added in the same way.
//
// # Cause and priority
//
// The cause in [workqueue.AddOptions] is the cause of the event, such as "watch", and appears in
// [workqueue.Item]. An event that reports no change (Initial and Resync) has
// [workqueue.LowPriority]. A change on the server (Watch, Relist) has priority 0, and overtakes
// these events in the queue.
package enqueue
