// Package workloads has the loops that the API server of package apitest runs on request: the
// garbage collector, and the runner of pods.
//
//	changes of the store ──► ChangeLoop ──► GarbageCollector, RunPods ──► writes of the Cluster
//
// A [Cluster] is what the loops need of a server. [RunLoop] processes all changes before a loop
// acts, so that the loop never acts on an old state of one of two related objects.
//
// # Guarantees
//
//   - A loop returns when its context ends, and starts no goroutine.
//   - The collector deletes only the version of an object that it has checked.
//   - The functions are not safe for concurrent use, except with the server's own writes.
package workloads
