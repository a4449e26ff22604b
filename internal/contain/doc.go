// Package contain protects this module from code of a program that may misbehave. It limits the
// effects of functions that panic or call runtime.Goexit ([Hooks]), of errors whose methods panic
// ([SafeError]), and of log handlers that panic ([Logger]).
package contain
