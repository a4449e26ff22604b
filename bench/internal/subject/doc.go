// Package subject runs inside a measured process. Each client is a process of its own, so that its
// peak memory, CPU time and heap are measured separately.
//
// Main reads one command per line from standard input, and writes one Report in JSON for each to
// standard output:
//
//	(the start)            synced, when the handler has returned from every pod
//	expect N               ready, then done when the handler has seen N updates
//	relist VERSION         ready, then done when a relist has brought that version
//	(the end of the input) the process exits
//
// When the driver has read "ready", it triggers the event that the client waits for.
package subject
