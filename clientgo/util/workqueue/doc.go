// Package workqueue has client-go's work queues on kinform's.
//
// A queue with the real clock and without a Queue of the program's own is one
// github.com/kinform/kinform/workqueue.Queue, delays included: it has no goroutine but that of its metrics. A
// program that brings a clock or a Queue gets sets.go, as kinform's queue calls no user code under its lock and
// reads no other clock.
//
// Where client-go has a defect that no program relies on, it is absent: Done of an item that no worker has is
// ignored, every caller of ShutDownWithDrain is released, and ShutDownWithDrain waits for queued items as long
// as there are workers that take them.
package workqueue
