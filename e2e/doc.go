// Package e2e tests kinform against a real kube-apiserver and etcd: run
// `make test` here, or `make e2e` in the root.
//
// One cluster with 5,000 pods serves all tests, one after the other, except for a
// few that need one of their own. Each runs a whole pipeline (rest, reflector,
// queue, store, handler) with a network of its own, does something bad to the server
// or the network, and then compares: store and handler must be exactly what the
// server lists, by key and resourceVersion. After that it stops the pipeline, and
// nothing may be left of it: no goroutine, no connection, no timer, no memory. See
// residue_test.go for how that is seen.
package e2e
