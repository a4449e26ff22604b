// Command queue measures kinform's work queue, package workqueue, against
// client-go's typed work queue and controller-runtime's priority queue, all in one
// process. Run it in the directory bench:
//
//	go run ./queue [-runs 5] [-for 200ms] [-rows workers,AddAfter] [-quick]
//
// Keys are namespaced names, made beforehand. In each round every row is measured
// once on each queue, on a fresh one; medians count. Ratios are taken within
// rounds, between measurements that follow each other.
//
// Rows of one goroutine are in CPU time of the process, which other programs on the
// machine hardly lengthen, and which has what a queue does in goroutines of its own.
// In rows in which goroutines wait for each other the wall time counts; their CPU
// time is given as well. Bytes and allocations are those of the process, too.
//
// A queue that takes things in by another goroutine, as client-go does with delayed
// keys and controller-runtime with all, has not done the work when the call returns.
// All rows go on until it has:
//
//   - where keys are worked on, until Done has returned for each;
//   - where keys are delayed, each thousand is followed by one with a delay of a
//     nanosecond. It takes the same way as they do, and so when it can be got, all of
//     them have been taken in. What that one costs is part of the thousand;
//   - where keys are queued already, until Len has returned, which makes
//     controller-runtime's queue take in what it was given.
//
// client-go and controller-runtime have no names here, so that they count nothing;
// kinform always counts. client-go's queue is the plain one, called directly, not
// through the three layers of a rate-limiting queue, except to delay keys.
package main
