// Package view shows informers, queues and workers while they run, on a page in a browser: seven boxes with
// their numbers, and dots for changes on their way through them. "kinform demo" has one.
//
//	picture, err := view.New(view.Options{})
//	inf, err := informer.New(source, view.InformerOptions(picture, informer.Options[*corev1.Pod]{Name: "pods"}))
//	queue := workqueue.New(view.QueueOptions(picture, workqueue.Options[types.NamespacedName]{Name: "pods"}))
//	view.Informer(picture, inf)
//	view.Queue(picture, queue, "pods")
//	http.Handle("/view/", picture)
//
// Numbers are from Stats and Status, and need no observers; events and times are from observers. A manager's caches and
// controllers are shown by [View.ControllerObserver] and [View.Manager], a factory's informers by [View.Factory]. With many
// of them, the page begins with an index that has what is wrong on top.
//
// # What it costs
//
// While nobody looks, an event costs an atomic load at each stage, and the clock that a queue with an observer reads; it
// allocates nothing. While somebody looks, frames are made ten times a second, of snapshots and of a bounded sample of
// events; however many look, each frame is made once. The page shows what it costs.
//
// # The format
//
// The page, the terminal and recordings read the same lines of JSON, a [Line] each: first a [Hello], then a [Frame] every
// tenth of a second. [View.Record] writes a file of them, [View.Frames] has them in the program, and the
// page reads them at the path "stream", as server-sent events.
//
// # Who may look
//
// Unless [Options] say otherwise: this machine alone, by an address or localhost, and no page of anybody else. What
// is sent are names, namespaces and versions of objects, numbers, names of handlers and queues, and texts of errors. The
// content of objects is not sent. Of an object that somebody chooses, the names of its fields are, and their bytes; Options.Values adds
// the beginnings of their values, of Secrets never.
//
// To change something takes a [Laboratory], which a program has to give, and a token.
package view
