// Package contain is the one place through which this module looks at what a program gives it: functions
// that panic or call runtime.Goexit ([Hooks]), errors whose methods do ([Error]), and handlers of loggers that
// panic ([Logger]).
package contain
