// Command footprint builds three programs that do the same, print the names of pods
// as they come, one with client-go (directory clientgo), one with kinform as it is by
// default (directory kinform), and one with package plain, the textbook's pipeline
// (directory plain), and compares what they weigh and how fast they start. (Without
// sharing, kinform's has the same bytes.) Then it builds the programs of client-go, and a manager of
// controller-runtime (directory manager), once more from the same sources, with the line in go.mod that puts
// module clientgo in client-go's place. Run it in the directory bench:
//
//	go run ./footprint
package main
