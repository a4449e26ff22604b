// Package cache keeps the objects of a server in memory: reflectors list and watch, queues hand over what changed,
// indexed stores keep it, and shared informers call handlers.
//
// The names are client-go's. Reflectors run on kinform's reflector, stores on its indexer. Handlers get every change, each
// in a mailbox of its own without a bound, as programs of client-go expect. Nobody may change an object of a store.
package cache
