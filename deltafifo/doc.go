// Package deltafifo is the queue between a reflector and a store.
package deltafifo
