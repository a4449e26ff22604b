// Command sync measures the cost of keeping all pods of a server in memory, side by side in one
// run. It measures client-go's shared informer, kinform's with its defaults, kinform's without
// sharing, and package plain, the textbook pipeline. Run it in the directory bench:
//
//	go run ./sync [-pods 20000] [-runs 5] [-updates 30000] [-rows sync,heap,watch,relist]
//
// This process is the server, package apitest on loopback, without TLS. Its responses are encoded
// in advance, and are the same for all clients. Each client is a process of its own (directories
// clientgo, kinform, plain and raw), and the clients take turns. raw reads and discards the
// responses, and so shows the server's and the kernel's share of a time. plain lists whole pods in
// JSON. So it has no rows about protobuf, streaming lists, and informers that keep less.
//
//   - sync: from the first line of code that makes the client until its handler has returned from
//     every pod; then its live heap.
//   - heap: the same for informers that keep less of each pod.
//   - relist: the watch is dropped and the server's history compacted, so that the client must list
//     unchanged pods again.
//   - watch: every client has synced and opened a watch, which the server holds back while pods are
//     updated. Then it releases one client at a time. Each client gets the same events, as fast as
//     it reads them. The measurement ends when the client's handler has returned from the last
//     event. No client may skip an event.
//
// The rows dropin compare programs that are built twice from the same sources, with client-go and
// with the replace directive for module clientgo. The programs are clientgo, manager, and lister,
// which lists all pods once.
package main
