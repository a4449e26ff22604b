// Package clientgo has no code. It documents the module.
//
// The module's path is k8s.io/client-go, because Go requires a replacement module to have the path
// of the module that it replaces. The go.mod of a program replaces client-go with one line:
//
//	replace k8s.io/client-go => github.com/kinform/kinform/clientgo v0.1.0
//
// The packages have the paths and exported names of client-go. Most of them adapt kinform's
// reflector, store, workqueue and REST client to client-go's contract.
package clientgo
