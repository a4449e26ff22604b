// Package consistencydetector compares the objects of a watch with a list, and panics if they
// differ. It is a test aid for servers and clients.
package consistencydetector
