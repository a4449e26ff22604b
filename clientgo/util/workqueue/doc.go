// Package workqueue provides client-go's work queues on top of kinform's.
//
// Unless the program sets a clock or a Queue, items and delays are in a
// github.com/kinform/kinform/workqueue.Queue. Its only goroutine is for metrics. For a program's
// own clock or Queue there is a separate implementation in customqueue.go. The reason is that
// kinform's queue calls no user code under its lock, and reads only the real clock.
//
// Three defects of client-go, on which no program relies, are fixed. Done of an item that no worker
// has is ignored. Every caller of ShutDownWithDrain is released. ShutDownWithDrain also waits for
// queued items, as long as workers take them.
package workqueue
