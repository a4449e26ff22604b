// Package cache keeps the objects of a server in memory. Reflectors list and watch, queues pass on
// the changes, indexed stores keep the objects, and shared informers call handlers.
//
// The names are client-go's. Reflectors use kinform's code to read and decode lists and watches,
// and stores use kinform's indexer. Programs of client-go expect that each handler gets every
// change. So each handler has its own mailbox, without a bound. Nobody may modify an object of a
// store.
package cache
