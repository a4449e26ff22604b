// Package clientgo has nothing of its own. It says what this module is.
//
// The module's go.mod says k8s.io/client-go, because Go wants a module that takes another one's place to
// have its path. A program's go.mod points to it with one line:
//
//	replace k8s.io/client-go => github.com/kinform/kinform/clientgo v0.1.0
//
// The packages lie where client-go has them and have its exported names. They adapt kinform's reflector,
// queues, store, workqueue and REST client; what they do lies there.
package clientgo
