// Package cluster runs a real Kubernetes API server and its etcd on loopback,
// for tests that need the real thing and want to hurt it: kill the server,
// compact etcd's history, take a token away, give it a certificate by an authority
// that nobody knows yet.
//
// The two binaries come from module e2e/servers; `make servers` builds them.
// There are no nodes and no controllers: pods, config maps, leases and custom
// resources can be created, changed and deleted, and nothing else touches them.
//
// # Lifetimes
//
// [Start] returns when the server is ready, [Cluster.Stop] when both processes
// are gone. They are children that the kernel kills when the process that
// started them dies (on Linux), so an interrupted test leaves nothing running.
// Everything they write goes to files in a temporary directory, which Stop
// removes; [Cluster.Logs] shows their ends.
//
// # What is true
//
// The methods that read from the server ([Cluster.List]) or change it are plain
// net/http with quorum reads, and objects are decoded by apimachinery. Of kinform
// they share a [rest.Config], to say where the server is, and no code that talks
// to it: tests compare kinform with what they say.
package cluster
