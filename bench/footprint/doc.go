// Command footprint builds four programs that do the same, print the names of pods
// as they come, one with client-go (directory clientgo), one with kinform as it is by
// default (directory kinform), one with kinform and package rest/sharing (directory
// kinformsharing), and one with package plain, the textbook's pipeline (directory plain),
// and compares what they weigh and how fast they start. Run it in the directory bench:
//
//	go run ./footprint
package main
