// Command queue measures kinform's work queue, package workqueue, against
// client-go's typed work queue and controller-runtime's priority queue, and the
// textbook's, package plain, beside them, all in one process. Run it in the directory
// bench:
//
//	go run ./queue [-runs 5] [-for 200ms] [-rows workers,AddAfter] [-quick]
//	go run ./queue -latency [-runs 15] [-adds 2000] [-rate 20000] [-work 5µs]
//	go run ./queue -fairness [-turns 500]
//
// Standard error has what is measured, and how long the rest takes. With -latency, there are eight loads on each of five
// queues: a run of a load takes -adds divided by -rate, or -adds times -work divided by the workers or the processors if that is longer.
//
// # What operations cost
//
// Keys are namespaced names, made beforehand. In each round every row is measured
// once on each queue, on a fresh one; medians count. Ratios are taken within
// rounds, between measurements that follow each other. plain has no priorities, no
// part in ratios, and its turn before or behind all others.
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
//
// # How long keys wait
//
// With -latency, keys are added at moments that were drawn beforehand, as those of a
// Poisson process, whatever becomes of them. The time of a key begins at the moment
// at which its add is due, not when it is made, so that a producer who is held up is
// no excuse (no coordinated omission); see load.run. Workers keep a processor busy for
// the time of their work. There are many short runs, and the third of them counts in
// which the process was kept waiting least for a processor: when others keep it
// waiting, for milliseconds, that is all that can be seen.
//
// # How fair they are
//
// With -fairness, namespaces add more than workers can do, and one of them adds a
// hundred times as much as each other. There is no clock in it: adding and handing
// out take turns, so that it is the order of the queue which is measured, and the
// same on every machine. See contest, and fairness for the index.
package main
