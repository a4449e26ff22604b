// Package contain protects this module from code of a program that may misbehave. It contains
// functions that panic or call runtime.Goexit ([Hooks]), errors whose methods panic ([Error]), and
// log handlers that panic ([Logger]).
package contain
