// Package probe is the half of the measurement that runs inside a measured controller: it
// counts turns, and answers the driver's orders.
//
// The driver writes an order per line to the standard input, and reads one Report in JSON
// per line from the standard output:
//
//   - report: what was used so far
//   - heap: the same, and what lives on the heap after a collection
//   - profile: the same, and the CPU is profiled from here on, if Attach was told where to
//
// At the end of the input the process ends, so that none outlives its driver.
package probe
