// Package probe runs inside a measured controller: it counts reconciles, and executes the driver's
// commands.
//
// The driver writes one command per line to standard input, and reads one Report in JSON per line
// from standard output:
//
//   - report: the resources used so far
//   - heap: the same, and the live heap after a garbage collection
//   - profile: the same, and starts a CPU profile, if Attach got a file name for it
//
// The process exits at the end of its input, so that it does not outlive its driver.
package probe
