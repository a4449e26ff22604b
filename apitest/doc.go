// Package apitest is a Kubernetes API server inside the process, for tests,
// demonstrations and benchmarks: real HTTP, real list and watch semantics, and
// faults on demand. There is no etcd, no container and no fake clientset: a
// client under test speaks to it as to a cluster, over TCP or over an in-memory
// network that works inside a testing/synctest bubble.
//
//	srv := apitest.Start(t, apitest.Options{})
//	srv.Create(pod)
//	// point any client, even kubectl, at srv.URL()
//
// # What it answers
//
// List (whole and in pages), watch, streaming lists (WatchList), bookmarks, get,
// create, update, patch (JSON, merge and strategic merge), delete and delete of
// collections, the subresources status, scale and eviction, label and field selectors, metadata only
// (PartialObjectMetadata), discovery and as much of OpenAPI as kubectl needs; in
// JSON and in protobuf; for the built-in types and for custom resources, be they
// declared in [Options], by [Server.AddResource], or by creating a
// CustomResourceDefinition.
//
// # Guarantees
//
//   - One resourceVersion counts every write to any resource, so a greater one is
//     always later.
//   - Lists are snapshots. All pages of a list show the state of its first page.
//   - A watch reports every change after its resourceVersion, in order and once,
//     or it ends with 410 (Expired) because the window of past events has moved on
//     (see [Options].Window and [Server.Compact]).
//   - Watchers read a shared log at their own pace: a slow one never holds up a
//     writer nor another watcher.
//   - Errors are the metav1.Status bodies that a Kubernetes server sends.
//   - Objects are copied in and out: nothing that a caller holds is shared with
//     the server, nor with another caller.
//   - What is random (uids, generated names, the odds of a fault) depends on
//     [Options].Seed alone.
//   - [Server.Close] returns when every goroutine of the server has ended.
//
// # What it leaves out
//
// There are no controllers, no admission, no defaulting and no validation beyond
// names: a pod stays Pending, a deleted namespace takes nothing with it, deletion
// waits for finalizers but not for grace periods, and a pod may be created in a
// namespace that does not exist. Each group version of a built-in type is a
// resource of its own (autoscaling/v1 and v2 do not see each other's objects),
// and a custom resource is served in the storage version that its definition had
// when it was created, without looking at its schema. Server-side apply, CBOR, YAML
// bodies, tables, and other subresources are refused as a server
// without them would.
package apitest
