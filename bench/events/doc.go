// Command events measures the cost of recording events, with package events and with both recorders
// of client-go, tools/events and tools/record. Run it in the directory bench:
//
//	go run ./events [-runs 5] [-events 20000]
//
// There are two kinds of rows:
//
//   - recorded: the cost of a call while nothing is sent, which is the time that a caller loses.
//   - sent: the cost of an event, including requests, until the server has responded. Batches are
//     small, because a full queue of client-go would drop events.
//
// All sides run in this process, one after another, with a new recorder for each measurement. The
// server is a process of its own that echoes each event. Costs are CPU time and allocations of the
// process.
package main
