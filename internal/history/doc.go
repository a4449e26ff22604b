// Package history checks what an informer does against its guarantees, whatever
// happens to it: its handlers by a [Witness] each, its readers by [States].
//
// It is used in virtual time against apitest, and against a real API server.
package history
