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
// List (whole and in pages), watch, streaming lists (WatchList), bookmarks, get, create,
// update, patch (JSON, merge, strategic merge, and server-side apply), delete and delete of
// collections, the subresources, label and field selectors, metadata only
// (PartialObjectMetadata), tables with kubectl's columns, reviews, discovery, APIServices and
// OpenAPI (versions 2 and 3); in JSON and in protobuf; for the built-in types and for
// custom resources, be they declared in [Options], by [Server.AddResource], or by
// creating a CustomResourceDefinition, in all their versions.
//
// # What it does by choice
//
// A server stores, and does nothing more, unless [Options] say so: GarbageCollection
// deletes what is owned by what is gone, RunPods has pods run and be ready, CheckSchemas
// checks custom resources, ManagedFields tells of every object who set what, Tokens and Rules
// say who may do what, TLS, and FieldDocs have kubectl explain fields. The loops of the first
// two begin with the first listener or request, and [Server.Close] waits for them.
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
// There are no controllers but those two, no admission, and no defaulting: a deployment has no
// pods. A pod may be created in a namespace that does not exist. Each group version of a built-in
// type is a resource of its own (autoscaling/v1 and v2 do not see each other's objects),
// but for events, which core/v1 and events.k8s.io/v1 share. Names and metadata of what clients
// send are checked; the specs of built-in types are not.
// Between the versions of a custom resource nothing changes but the name of the version
// (the conversion None), whatever its definition says; of schemas, rules in CEL
// (x-kubernetes-validations) are not looked at. Roles and bindings that are stored
// mean nothing. A write that asks for admission, a conversion webhook or CEL gets a Warning
// header, which clients log. OpenAPI is made of the Go types, which do not say which values a field
// may have (enum). CBOR is refused as a server without it would, YAML is read and not written.
// kubectl's client-side apply hands no fields over to its server-side apply. docs/apiserver.md
// has the small differences.
package apitest
