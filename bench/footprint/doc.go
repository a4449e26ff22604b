// Command footprint builds three programs that print the names of pods as they arrive, and compares
// their sizes and start-up times. One uses client-go (directory clientgo), one kinform with its
// defaults (directory kinform), and one package plain, the textbook pipeline (directory plain).
// Without sharing, kinform's program has the same size. Two programs are then built a second time
// from the same sources, with the replace directive for module clientgo in go.mod. They are
// client-go's program, and a manager of controller-runtime (directory manager). Run it in the
// directory bench:
//
//	go run ./footprint
package main
