package main

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// queue has the operations that all queues have.
type queue interface {
	add(types.NamespacedName)
	addAfter(types.NamespacedName, time.Duration)
	get() (key types.NamespacedName, ok bool) // ok is false after shutDown
	done(types.NamespacedName)
	// flush returns when the queue has processed all earlier adds.
	flush()
	shutDown()
}

// prioritised is a queue that hands out keys of higher priority first.
type prioritised interface {
	queue
	// addPriority adds a key with a priority. level is an index in priorities.
	addPriority(key types.NamespacedName, level int)
}

// priorities has the three priorities; controller-runtime uses the lowest for objects of a relist.
var priorities = [...]int{-100, 0, 100}

// side is one of the compared queues. open may start goroutines, which shutDown ends.
type side struct {
	name string
	open func() queue
}

// These are the sides, as columns of the table. textbook has no targets.
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
