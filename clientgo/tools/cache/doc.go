// Package cache keeps the objects of a server in memory. Reflectors list and watch, queues pass on
// the changes, indexed stores keep the objects, and shared informers call handlers.
//
// The names are client-go's. Reflectors run on kinform's reflector, and stores on its indexer. As
// programs of client-go expect, each handler gets every change, from its own mailbox without a
// bound. Nobody may modify an object of a store.
package cache
