package main

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// queue has the operations that all queues have.
type queue interface {
	add(types.NamespacedName)
	addAfter(types.NamespacedName, time.Duration)
	get() (key types.NamespacedName, ok bool) // not ok: it is shut down
	done(types.NamespacedName)
	// flush returns when all earlier adds have been taken in.
	flush()
	shutDown()
}

// prioritised is a queue that hands out keys of a higher priority first.
type prioritised interface {
	queue
	// addPriority adds a key at a level, an index of priorities.
	addPriority(key types.NamespacedName, level int)
}

// priorities are those of the three levels, the least one as controller-runtime has
// it for what a relist finds.
var priorities = [...]int{-100, 0, 100}

// side is an implementation. Opening may start goroutines, shutting down ends them.
type side struct {
	name string
	open func() queue
}

// The sides, as columns of the table. textbook has no targets.
const (
	clientGo = iota
	controllerRuntime
	textbook
	kinform
)

var sides = []side{
	clientGo:          {"client-go", openClientGo},
	controllerRuntime: {"controller-runtime", openControllerRuntime},
	textbook:          {"plain", openTextbook},
	kinform:           {"kinform", openKinform},
}
