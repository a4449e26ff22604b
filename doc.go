// Package kinform is Kubernetes' informer machinery, written from scratch. A list and a watch over
// HTTP feed a reflector, which pushes deltas into a DeltaFIFO. An informer drains the DeltaFIFO
// into an indexed store and calls handlers. The handlers put keys into a workqueue, and workers get
// the keys from it.
//
//	            list, watch                deltas            batches
//	API server ────────────► reflector ───────────► DeltaFIFO ───────► store ◄─┐
//	                                                            │              │ reads
//	                                          events            ▼              │
//	                              workqueue ◄──────────── handlers             │
//	                                  │ keys                                   │
//	                                  └──────► workers ────────────────────────┘
//
// This package is empty: each stage is a separate package, and usable alone.
//
// # Packages, in reading order
//
// If informers are new to you, begin with docs/how-informers-work.md, half an hour with
// experiments. Then read package [plain], a textbook version of the same pipeline. After that:
//
//   - [listwatch]: the interface between a reflector and a server: list and watch.
//   - [rest]: the client that implements listwatch by HTTP, in JSON and protobuf, item by item.
//   - [reflector]: list and watch as an explicit state machine.
//   - [deltafifo]: the queue of changes, one stack per key, that the informer drains.
//   - [indexer]: the store. Readers see whole transactions, and block neither writers nor each
//     other.
//   - [informer]: connects these stages, and guarantees G1 to G11.
//   - [workqueue]: the keys that need work, without duplicates, in order, and after delays.
//   - [lease]: leader election, which decides which of several replicas works.
//   - [events]: Kubernetes Events, which report to users what happened to an object.
//   - [controller]: one Run for the caches, queues, workers, lease and probes of a program.
//   - [metrics]: collectors for Prometheus.
//   - [tracing]: spans for OpenTelemetry.
//   - [view]: a page that shows a running pipeline.
//   - [apitest]: an API server for tests, with scripted faults.
//
// Packages below informer and rest add what only some programs need, such as merged sources,
// warm starts, kubeconfig files and finalizers. docs/packages.md introduces them.
//
// The directory examples/minimal has the smallest useful program, docs/controllers.md goes on from
// there, and examples/controller is a complete controller. examples/byhand wires the packages
// together without package controller. examples/fleet runs two replicas and a load test.
//
// [plain]: https://pkg.go.dev/github.com/kinform/kinform/plain
// [listwatch]: https://pkg.go.dev/github.com/kinform/kinform/listwatch
// [rest]: https://pkg.go.dev/github.com/kinform/kinform/rest
// [reflector]: https://pkg.go.dev/github.com/kinform/kinform/reflector
// [deltafifo]: https://pkg.go.dev/github.com/kinform/kinform/deltafifo
// [indexer]: https://pkg.go.dev/github.com/kinform/kinform/indexer
// [informer]: https://pkg.go.dev/github.com/kinform/kinform/informer
// [workqueue]: https://pkg.go.dev/github.com/kinform/kinform/workqueue
// [lease]: https://pkg.go.dev/github.com/kinform/kinform/lease
// [events]: https://pkg.go.dev/github.com/kinform/kinform/events
// [controller]: https://pkg.go.dev/github.com/kinform/kinform/controller
// [metrics]: https://pkg.go.dev/github.com/kinform/kinform/metrics
// [tracing]: https://pkg.go.dev/github.com/kinform/kinform/tracing
// [view]: https://pkg.go.dev/github.com/kinform/kinform/view
// [apitest]: https://pkg.go.dev/github.com/kinform/kinform/apitest
package kinform
