// Command events measures what recording events costs, with package events and with both
// recorders of client-go, tools/events and tools/record. Run it in the directory bench:
//
//		go run ./events [-runs 5] [-events 20000]
//
//	  - recorded: what the process pays for a call, while nobody sends. It is what stands in the way of the caller.
//	  - sent: what it pays for an event until the server has answered, requests included. Batches are small enough that no queue
//	    of client-go is full, which drops what comes then.
//
// All sides are in this process, in turn; each has a recorder of its own for each measurement. The server is a process of
// its own, which answers each event with itself. Costs are CPU time and allocations of the process.
package main
