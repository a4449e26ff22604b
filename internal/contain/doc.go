// Package contain is the one place through which this module calls code of a program that may
// misbehave. It contains functions that panic or call runtime.Goexit ([Hooks]), errors whose
// methods panic ([Error]), and log handlers that panic ([Logger]).
package contain
