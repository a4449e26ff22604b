// Package plain is the whole pipeline of an informer and its controller, as in a textbook. It has
// one file for each stage, a mutex around each state, no tricks, and some 800 lines of code. Read
// it top to bottom, in an evening.
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
//   - reflector.go lists and watches again and again, whatever fails, and queues each change.
//   - deltafifo.go is that queue: for each key, it has the changes of the object.
//   - store.go holds the objects, and finds them by key and by index.
//   - informer.go reads the deltas, changes the store, and notifies the handlers.
//   - handler.go calls each handler at the handler's own pace.
//   - workqueue.go queues each key once, and hands each key to one worker at a time.
//   - delay.go and backoff.go add a key again later.
//   - worker.go works on keys until nothing is left to do.
//
// Each file begins with its idea. At its end is a list of what the tuned package of this module
// does in addition, and why. README.md has the figures. docs/how-informers-work.md explains the
// same in words, with experiments: read a section there, then the file that it names.
//
// # Guarantees
//
//   - Store and handlers reach the server's state, whatever fails on the way.
//   - For each key, handlers see events in the server's order.
//   - Two workers never have the same key at once.
//   - When Run returns, all of its goroutines have ended.
//
// The suites in internal/testing/conformance and the random histories of bench/differential run on
// this package, on the tuned packages, and on client-go.
//
// # Limits
//
//   - Memory is not bounded. An object of the server, the deltas of a key, and the waiting events
//     of a slow handler may take any amount.
//   - An undecodable object makes the whole list fail: until the object is repaired, the store
//     stays empty, or keeps its old content.
//   - Readers can see a relist half done.
//   - The reflector may not notice that a cluster was restored from a backup.
//   - It reads only JSON. Its http.Client provides connections and credentials.
//
// TestStore, TestQueue and TestInformer name each case of the suites that this package fails, with
// the reason.
package plain
