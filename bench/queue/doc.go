// Command queue measures kinform's work queue, package workqueue, against client-go's typed work
// queue and controller-runtime's priority queue. Package plain, the textbook queue, is measured
// beside them. All run in one process. Run it in the directory bench:
//
//	go run ./queue [-runs 5] [-for 200ms] [-rows workers,AddAfter] [-quick]
//	go run ./queue -latency [-runs 15] [-adds 2000] [-rate 20000] [-work 5µs]
//	go run ./queue -fairness [-turns 500]
//
// Standard error shows the current measurement, and the time left. With -latency, there are eight
// loads on each of five queues. A run of a load takes -adds divided by -rate. It takes -adds times
// -work divided by the workers or the processors, if that is longer.
//
// # What operations cost
//
// Keys are namespaced names, made in advance. In each round every row is measured once on each
// queue, with a fresh queue; medians count. Ratios are computed within rounds, between consecutive
// measurements. plain has no priorities and no ratios, and is measured before or after all others.
//
// Rows with one goroutine are in CPU time of the process. Other programs on the machine hardly
// affect it, and it includes the queue's own goroutines. In rows in which goroutines wait for each
// other the wall time counts; their CPU time is shown as well. Bytes and allocations are of the
// whole process, too.
//
// Some queues process calls in another goroutine, as client-go does with delayed keys and
// controller-runtime with all. They have not done the work when the call returns. So all rows
// include that work:
//
//   - if keys are processed, until Done has returned for each;
//   - if keys are delayed, each thousand is followed by one key with a delay of a nanosecond. This
//     key takes the same path, so when it can be got, the queue has processed all of them. Its cost
//     is part of the thousand;
//   - if keys are queued already, until Len has returned, which makes controller-runtime's queue
//     process its buffer.
//
// client-go's and controller-runtime's queues have no names here, so they count no metrics; kinform
// always counts. client-go's queue is the plain one, called directly, not through the three layers
// of a rate-limiting queue, except to delay keys.
//
// # How long keys wait
//
// With -latency, keys are added at times of a Poisson process that are drawn in advance, whatever
// happens to the keys. The time of a key begins when its add is due, not when it is made. So a
// delayed producer counts (no coordinated omission); see load.run. Workers keep a processor busy
// for the time of their work. There are many short runs, and only the third of them counts in which
// the process waited least for a processor. If other programs make it wait for milliseconds, that
// would hide everything else.
//
// # How fair they are
//
// With -fairness, namespaces add more than the workers can process, and one of them adds a hundred
// times as much as each other. No clock is involved: adding and handing out alternate. So only the
// order of the queue is measured, and the result is the same on every machine. See contest, and
// fairness for the index.
package main
