// Package subject is the half of a measurement that runs inside the measured
// process. Each client is a process of its own, so that its peak memory, its CPU
// time and its heap are nobody else's.
//
// Main takes orders on the standard input, one per line, and answers each with one
// Report in JSON on the standard output:
//
//	(the start)            synced, when the handler has returned from every pod
//	expect N               ready, then done when the handler has seen N updates
//	relist VERSION         ready, then done when a relist has brought that version
//	(the end of the input) the process exits
//
// The driver causes what is waited for after it has read "ready".
package subject
