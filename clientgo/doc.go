// Package clientgo has no code. It documents the module.
//
// The module's path is k8s.io/client-go, because Go requires a replacement module to have the path
// of the module that it replaces. A program's go.mod points to it with one line:
//
//	replace k8s.io/client-go => github.com/kinform/kinform/clientgo v0.1.0
//
// The packages have the paths and exported names of client-go. They adapt kinform's reflector,
// queues, store, workqueue and REST client, which do the work.
package clientgo
