// Package e2e tests kinform against a real kube-apiserver and etcd: run
// `make test` here, or `make e2e` in the root.
//
// One cluster with 5,000 pods serves all tests, one after another, except for a few tests that need
// a cluster of their own. Each test runs a whole pipeline (rest, reflector, queue, store, handler)
// on a network of its own, and injects faults into the server or the network. Then it compares
// store and handler with the server's list: they must be equal, by key and resourceVersion. After
// that the test stops the pipeline, which must leave nothing behind: no goroutine, connection,
// timer or memory. leaks_test.go explains this check.
package e2e
