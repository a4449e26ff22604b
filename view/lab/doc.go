// Package lab is a laboratory: a whole pipeline on an API server in the process, with a picture of package view whose
// buttons pause its stages, write objects and break things.
//
//	l, err := lab.New(lab.Options{})
//	http.Handle("/", l.View())
//	err = l.Run(ctx)
//
// The pipeline has the parts of any controller: an API server of package apitest, a client, an informer of pods, a
// handler that adds keys to a queue, and workers that only take their time. Nothing is simulated: what a button breaks
// is broken in the same way as between machines, and the library's own code heals it.
//
// Everything runs in the process, in a browser's tab as well (GOOS=js): the client and the server talk through memory.
// [Options].Listen adds a socket, for kubectl.
//
// # Stages that wait
//
// Each stage can be held, and let go on by one step. The watch is held in the source, which the reflector
// pulls events from. The shelf is held where the informer has taken a batch of deltas, and not stored it yet. The handler and the workers are
// functions of this package, and wait before they begin. What a stage holds, waits in the stage before it.
//
// # Another informer
//
// An informer cannot change its encoding, its way of listing, or the parts of objects that it leaves out. Buttons for these end it, and begin
// another one, whose store is empty at first. The queue and the workers go on.
package lab
