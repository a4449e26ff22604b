// Package view shows running informers, queues and workers on a web page. The page has seven boxes
// with their numbers, and a dot for each change that moves through them. "kinform demo" serves a
// view.
//
//	picture, err := view.New(view.Options{})
//	inf, err := informer.New(source,
//		view.InformerOptions(picture, informer.Options[*corev1.Pod]{Name: "pods"}))
//	queue := workqueue.New(
//		view.QueueOptions(picture, workqueue.Options[types.NamespacedName]{Name: "pods"}))
//	view.Informer(picture, inf)
//	view.Queue(picture, queue, "pods")
//	http.Handle("/view/", picture)
//
// The numbers come from Stats and Status, and need no observers. Events and durations come from
// observers. [View.ControllerObserver] and [View.Manager] show a manager's caches and controllers,
// and [View.Factory] shows a factory's informers. With more than eight pipelines, the page begins
// with an index that has pipelines with problems on top.
//
// # Cost
//
// Without viewers, an event costs one atomic load at each stage, and no allocation. A queue with an
// observer also reads the clock. While there are viewers, the view makes ten frames a second from
// snapshots and a bounded sample of events. All viewers share each frame. The page shows the cost
// of the view.
//
// # The format
//
// The page, the terminal and recordings read the same JSON lines. Each is a [Line]: first a
// [Hello], then a [Frame] every tenth of a second. [View.Record] writes them to a file, and
// [View.Frames] returns them inside the program. The page reads them at the path "stream", as
// server-sent events.
//
// # Access
//
// By default, the view accepts only requests from this machine, for an IP address or localhost. It
// refuses requests from pages of other origins. [Options] can change this. The view sends names,
// namespaces and versions of objects, numbers, names of handlers and queues, and error texts. It
// does not send the content of objects. For an object that a user chooses, it sends the names and
// sizes of the fields. Options.Values adds the beginnings of their values, but never for Secrets.
//
// Changes need a [Laboratory], which the program has to provide, and a token.
package view
