// Command events measures the cost of recording events, with package events and with both recorders
// of client-go, tools/events and tools/record. Run it in the directory bench:
//
//	go run ./events [-runs 5] [-events 20000]
//
// There are two kinds of rows:
//
//   - recorded: the cost of a call while nothing is sent. It is the time that the caller loses.
//   - sent: the cost of an event until the server has answered, including requests. Batches are so
//     small that no queue of client-go is full, because a full queue drops events.
//
// All sides run in this process, one after another, with a new recorder for each measurement. The
// server is a process of its own that echoes each event. Costs are CPU time and allocations of the
// process.
package main
