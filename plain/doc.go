// Package plain is the whole pipeline of an informer and its controller as a textbook has it: one
// file for each stage, a mutex around each state, no tricks, and some 800 lines of code. Read it
// top to bottom, in an evening.
//
//	server --list, watch--> Client --> Reflector --deltas--> DeltaFIFO --> Informer --> Store
//	                                                                          |
//	                                                                          +--> Handlers
//	                                                                                  | keys
//	                              reconcile <-- Work <-- Queue (dirty, processing) <--+
//	                                  |                    ^
//	                                  +-- error: back-off --+ (delay heap)
//
// # Reading order
//
//   - client.go asks the server: what is there, and what has changed since?
//   - reflector.go keeps asking, whatever fails, and queues each change.
//   - deltafifo.go is that queue: for each key, it has the changes of the object.
//   - store.go holds the objects, and finds them by key and by index.
//   - informer.go reads the deltas, changes the store, and notifies the handlers.
//   - handler.go calls each handler at the handler's own pace.
//   - workqueue.go takes keys, each once, and gives each to one worker at a time.
//   - delay.go and backoff.go bring a key back later.
//   - worker.go works on keys until nothing is left to do.
//
// Each file begins with its idea. At its end is a list of what the tuned package of this module
// does in addition, and why. README.md has the figures. docs/how-informers-work.md explains the
// same in words, with experiments: read a section there, then the file that it names.
//
// # What it promises
//
//   - Store and handlers reach the server's state, whatever fails on the way.
//   - For each key, handlers see events in the server's order.
//   - A key is never with two workers at once.
//   - When Run returns, none of its goroutines is left.
//
// The suites in internal/testing/conformance and the random histories of bench/differential run on
// this package, on the tuned packages, and on client-go.
//
// # What it does not promise
//
//   - Memory is not bounded: one object of the server, the deltas of one key, and the events that
//     wait for a slow handler may take any amount.
//   - An undecodable object makes the whole list fail: the copy stays empty, or as it was, until
//     the object is repaired.
//   - Readers see a relist half done.
//   - A cluster that was restored from a backup may go unnoticed.
//   - It reads only JSON. Its http.Client provides connections and credentials.
//
// TestStore, TestQueue and TestInformer name each case of the suites that this package fails, with
// the reason.
package plain
