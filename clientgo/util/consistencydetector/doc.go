// Package consistencydetector compares what a watch has brought with a list, and panics when they differ. It is an aid
// for tests of servers and clients.
package consistencydetector
