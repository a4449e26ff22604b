// Command queue measures kinform's work queue, package workqueue, against client-go's typed work
// queue and controller-runtime's priority queue. Package plain, the textbook queue, is measured
// beside them. All run in one process. Run it in the directory bench:
//
//	go run ./queue [-runs 5] [-for 200ms] [-rows workers,AddAfter] [-quick]
//	go run ./queue -latency [-runs 15] [-adds 2000] [-rate 20000] [-work 5µs]
//	go run ./queue -fairness [-rounds 500]
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
// affect CPU time, and it includes the queue's own goroutines. If goroutines wait for each other,
// the wall time counts, and the table also shows the CPU time. Bytes and allocations are of the
// whole process, too.
//
// Some queues process calls in another goroutine, as client-go does with delayed keys and
// controller-runtime with all keys. When such a call returns, its work is not done yet. So all rows
// include this work:
//
//   - if keys are processed, until Done has returned for each;
//   - if keys are delayed, each thousand is followed by one key with a delay of a nanosecond. This
//     key takes the same path. So when Get returns it, the queue has processed the whole thousand.
//     The cost of this key is included;
//   - if keys are queued already, until Len has returned, which makes controller-runtime's queue
//     process its buffer.
//
// client-go's and controller-runtime's queues have no names here, so they count no metrics;
// kinform's queue always counts. Except for delays, the plain queue of client-go is called
// directly, not through the three layers of a rate-limiting queue.
//
// # How long keys wait
//
// With -latency, keys are added at times of a Poisson process that are drawn in advance. The wait
// of a key begins when its add is due, not when the producer makes the add. So a delay of the
// producer counts as waiting (no coordinated omission); see load.run. Workers keep a processor busy
// for the time of their work. There are many short runs. Only the third of the runs counts in which
// the process waited least for a processor. Otherwise a wait of milliseconds because of another
// program would hide everything else.
//
// # How fair they are
//
// With -fairness, namespaces add more than the workers can process, and one of them adds a hundred
// times as much as each other. No clock is involved: adding and handing out alternate. So only the
// order of the queue is measured, and the result is the same on every machine. See fairnessLoad,
// and function fairness for the index.
package main
