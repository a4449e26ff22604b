// Package clientgo has no code. It documents the module.
//
// The module's path is k8s.io/client-go, because Go requires a replacement module to have the path
// of the module that it replaces. The go.mod of a program replaces client-go with one line:
//
//	replace k8s.io/client-go => github.com/kinform/kinform/clientgo v0.37.2-kinform.0.1.0
//
// The packages have the paths and exported names of client-go. They use kinform's store and
// workqueue, and the code with which kinform reads and decodes lists and watches.
package clientgo
