// Package kinform is Kubernetes' informer machinery, written from scratch: a list
// and a watch over HTTP feed a reflector, which pushes deltas into a DeltaFIFO,
// which an informer drains into an indexed store while it calls handlers, which
// put keys into a workqueue, from which workers take them.
//
//	            list, watch                deltas            batches
//	API server ────────────► reflector ───────────► DeltaFIFO ───────► store ◄─┐
//	                                                            │              │ reads
//	                                          events            ▼              │
//	                              workqueue ◄──────────── handlers             │
//	                                  │ keys                                   │
//	                                  └──────► workers ────────────────────────┘
//
// This package is empty: the stages are packages of their own, each usable alone.
//
// # Reading order
//
// Who has not met informers before begins with docs/how-informers-work.md, half an hour
// with experiments, and with package plain, the same pipeline as a textbook has it. Then:
//
//   - listwatch: the port. What a reflector asks of a server.
//   - rest: the adapter. HTTP, JSON and protobuf, item by item.
//   - reflector: list and watch as a state machine that one can see.
//   - deltafifo: what changed, in one stack per key, until somebody takes it.
//   - indexer: the store. Readers see whole transactions and block nobody.
//   - informer: the wiring, and its guarantees G1 to G11.
//   - workqueue: which keys need work, without duplicates, whose turn it is, and when.
//   - lease: which of several copies works. Leader election.
//   - events: what happened, told to those who look at an object.
//   - controller: caches, queues, workers, lease and probes of a program in one Run.
//   - metrics, tracing: what an operator sees, for Prometheus and OpenTelemetry.
//   - apitest: an API server for tests, with faults to order.
//
// The directory examples/minimal has the smallest useful program, docs/controllers.md goes
// on from there, and examples/controller is a complete controller. In examples/byhand the
// parts are put together without package controller; examples/fleet is two replicas and a
// load test.
package kinform
