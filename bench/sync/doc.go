// Command sync measures what keeping all pods of a server in memory costs, with
// client-go's shared informer, with kinform's as it is by default, with kinform's where
// objects share nothing, and with package plain, the textbook's pipeline, side by side in
// one run. Run it in the directory bench:
//
//	go run ./sync [-pods 20000] [-runs 5] [-updates 30000] [-rows sync,heap,watch,relist]
//
// This process is the server, package apitest on loopback, without TLS. What it
// sends is encoded beforehand, and is the same for all. Each client is a process of
// its own (directories clientgo, kinform, plain and raw), and they take turns. raw reads
// and discards, and so shows how much of a time is the server's and the kernel's. plain
// lists whole pods in JSON, and so is in no row of protobuf, of streaming lists, or of
// informers that keep less.
//
//   - sync: from the first line of code that makes the client until its handler
//     has returned from every pod; then what lives on its heap.
//   - heap: the same for informers that keep less of each pod.
//   - relist: the watch is dropped and the server's past compacted, so that the
//     client must list again, pods that have not changed.
//   - watch: every client has synced and asked for a watch, which the server holds
//     back while pods are updated; then it lets one client go on at a time. Each is
//     sent the same events as fast as it reads them. The end is when its handler has
//     returned from the last; no client may leave out any.
//
// The rows dropin compare programs that are built from the same sources with client-go, and with the
// line of module clientgo: clientgo, manager, and lister, which lists all pods once.
package main
