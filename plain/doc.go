// Package plain is the whole pipeline of an informer and its controller as a textbook has it: one file for
// each stage, a mutex around each state, and no trick. It is there to be read, top to bottom, in an evening.
//
//	server --list, watch--> Client --> Reflector --deltas--> DeltaFIFO --> Informer --> Store, Indexes
//	                                                                          |
//	                                                                          +--> Handler, Handler ...
//	                                                                                  | keys
//	                              reconcile <-- Work <-- Queue (dirty, processing) <--+
//	                                  |                    ^
//	                                  +-- error: back-off --+ (delay heap)
//
// # Reading order
//
//   - client.go asks the server: what is there, and what has changed since?
//   - reflector.go keeps asking, whatever happens, and writes down what it hears.
//   - deltafifo.go is where it is written: for each key, what has happened to it.
//   - store.go holds the objects, and finds them by what they are.
//   - informer.go reads the deltas, changes the store, and tells the handlers.
//   - handler.go calls each handler at the handler's own pace.
//   - workqueue.go takes keys, each once, and gives each to one worker at a time.
//   - delay.go and backoff.go bring a key back later.
//   - worker.go works on keys until nothing is left to do.
//
// Each file begins with its idea and ends with what the package of the same name in this module does beyond
// it, and README.md says what that buys, in figures. docs/how-informers-work.md tells the same story in words,
// with experiments.
//
// # What it promises
//
// Store and handlers reach the server's state, whatever fails on the way; for each key, handlers see events
// in the server's order; a key is never with two workers at once; when Run returns, nothing of it goes on.
// The suites in internal/conformance and the random histories of bench/differential run on this package as
// they do on the tuned ones, and on client-go.
//
// # What it does not promise
//
// Its memory has no bound: neither for one object of the server, nor for the deltas of one key, nor for what
// a slow handler has yet to hear. An object that cannot be decoded fails the whole list. A reader sees a
// relist half done. A cluster that was restored from a backup may go unnoticed. It reads JSON alone, over
// connections and with credentials that its http.Client brings along. TestStore, TestQueue and TestInformer
// name each case of the suites that it fails, with the reason.
package plain
