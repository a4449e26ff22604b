// Package cluster runs a real Kubernetes API server and its etcd on loopback, for tests that need a
// real server and inject faults. Such tests kill the server, compact etcd's history, or revoke a
// token. They also give the server a certificate of an authority that no client trusts yet.
//
// The two binaries come from module e2e/servers; `make servers` builds them.
// There are no nodes and no controllers: pods, config maps, leases and custom
// resources can be created, changed and deleted, and nothing else touches them.
//
// # Lifetimes
//
// [Start] returns when the server is ready, [Cluster.Stop] when both processes have ended. On
// Linux, the kernel kills both processes when the process that started them dies, so an interrupted
// test leaves nothing running. Both write only to a temporary directory, which Stop removes.
// [Cluster.Logs] returns the last lines of their output.
//
// # The reference
//
// The methods that read from the server ([Cluster.List]) or change it use net/http, quorum reads
// and apimachinery's decoding. Tests compare kinform with their results. So these methods do not
// use kinform's code, except [rest.Config] for the server's address.
package cluster
