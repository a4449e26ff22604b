// Command footprint builds two programs that do the same, print the names of pods
// as they come, one with client-go (directory clientgo) and one with kinform
// (directory kinform), and compares what they weigh and how fast they start. Run it
// in the directory bench:
//
//	go run ./footprint
package main
