// Package apitest is a Kubernetes API server inside the process, for tests, demonstrations and
// benchmarks. It has real HTTP, real list and watch semantics, and faults on demand. There is no
// etcd, no container and no fake clientset. A client under test uses this server like any cluster.
// It connects over TCP, or over an in-memory network that works inside a testing/synctest bubble.
//
//	srv := apitest.Start(t, apitest.Options{})
//	srv.Create(pod)
//	// point any client, even kubectl, at srv.URL()
//
// # Requests
//
// The server handles these requests, in JSON and in protobuf:
//
//   - list (whole and in pages), watch, streaming lists (WatchList) and bookmarks
//   - get, create, update, delete and delete of collections
//   - patch: JSON, merge, strategic merge, and server-side apply
//   - the subresources, label selectors and field selectors
//   - metadata only (PartialObjectMetadata), and tables with kubectl's columns
//   - reviews, discovery, APIServices and OpenAPI (versions 2 and 3)
//
// The server serves the built-in types and custom resources in all their versions. Declare a custom
// resource in [Options] or with [Server.AddResource], or create a CustomResourceDefinition.
//
// # Optional behaviour
//
// A server stores objects and does nothing else, unless one of these [Options] is set:
//
//   - GarbageCollection deletes objects whose owners are gone.
//   - RunPods makes pods run and become ready.
//   - CheckSchemas checks custom resources by their schemas.
//   - ManagedFields tracks which manager set which field.
//   - Tokens and Rules limit what each client may do, and TLS serves HTTPS.
//   - FieldDocs makes kubectl explain describe fields.
//
// The loops of the first two options start with the first listener or request, and [Server.Close]
// waits for them.
//
// # Guarantees
//
//   - One resourceVersion counts every write to any resource, so a greater resourceVersion is
//     always later.
//   - Lists are snapshots. All pages of a list show the state at the time of its first page.
//   - A watch reports every change after its resourceVersion, in order and once. A watch ends with
//     410 (Expired) if the window of past events has moved past the position of the watch (see
//     [Options].Window and [Server.Compact]).
//   - Watchers read a shared log at their own pace: a slow watcher never delays a writer or another
//     watcher.
//   - Errors are the metav1.Status bodies that a Kubernetes server sends.
//   - Objects are copied in and out: the server shares no memory with its callers, and callers
//     share none with each other.
//   - Random values (uids, generated names, the odds of a fault) depend on [Options].Seed alone.
//   - [Server.Close] returns when every goroutine of the server has ended.
//
// # Limits
//
// There are no controllers except the two loops above, no admission, and no defaulting: a
// deployment gets no pods. A pod may be created in a namespace that does not exist. Names and
// metadata that clients send are checked; the specs of built-in types are not.
//
// Each group version of a built-in type is a separate resource: autoscaling/v1 and v2 do not see
// each other's objects. The only exception is events, which core/v1 and events.k8s.io/v1 share.
//
// Versions of a custom resource differ only in the name of the version (conversion strategy None),
// whatever the definition says. CEL rules in schemas (x-kubernetes-validations) are ignored. Stored
// roles and bindings have no effect. If a written object requests admission, a conversion webhook
// or CEL, the response has a Warning header, which clients log.
//
// OpenAPI documents are made from the Go types, so they lack the allowed values of fields (enum).
// CBOR is refused, as on a real server where it is disabled. YAML is read but not written. When
// kubectl changes from client-side to server-side apply, the ownership of fields is not handed
// over. docs/apiserver.md lists the small differences.
package apitest
