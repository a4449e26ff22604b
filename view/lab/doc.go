// Package lab is a laboratory: a whole pipeline with an API server in the same process. It shows
// the pipeline on a page of package view. Buttons on the page pause stages, write objects and cause
// faults.
//
//	l, err := lab.New(lab.Options{})
//	http.Handle("/", l.View())
//	err = l.Run(ctx)
//
// The pipeline is the pipeline of any controller. It has an API server of package apitest, a
// client, an informer of pods, and a handler that adds keys to a queue. Its workers only spend
// time. Nothing is simulated, except lost events. A button causes a fault in the same way as a
// network would, and the ordinary code of the library recovers from the fault.
//
// Everything runs in one process, also in a browser tab (GOOS=js): client and server talk through
// memory. [Options].Listen adds a socket, for kubectl.
//
// # Paused stages
//
// Each stage can be paused, and advanced by one step. The watch is paused in the source, from which
// the reflector reads events. The DeltaFIFO is paused between two steps of the informer: popping a
// batch of deltas, and storing the batch. The handler and the workers are functions of this
// package, which wait before they begin. Input for a paused stage waits in the stage before it.
//
// # Restarts of the informer
//
// An informer cannot change its encoding, its list mode, or the fields of objects that it leaves
// out. A button that changes one of these ends the informer and starts another one, whose store is
// empty at first. The queue and the workers keep running.
package lab
