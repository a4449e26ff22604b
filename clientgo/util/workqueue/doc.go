// Package workqueue provides client-go's work queues on top of kinform's.
//
// A queue with the real clock and no Queue of the program is a
// github.com/kinform/kinform/workqueue.Queue, including delays. Its only goroutine is for metrics.
// A program's own clock or Queue is served by sets.go: kinform's queue calls no user code under its
// lock and reads no other clock.
//
// Three defects of client-go, on which no program relies, are absent. Done of an item that no
// worker has is ignored. Every caller of ShutDownWithDrain is released. ShutDownWithDrain waits for
// queued items as long as workers take them.
package workqueue
