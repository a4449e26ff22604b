// Command latency measures how long an event takes from the server's write to a
// handler's call, in kinform, in client-go and in package plain, the textbook's
// pipeline, with ten handlers of which one is slow, and how many goroutines an
// informer and a handler have.
//
// For the latency the server is in memory and sends the same events to all, so
// that it is the machinery that is measured: from the watch's stream through the
// queue, the store and the mailboxes. plain takes nothing but JSON over HTTP, and so
// has an http.RoundTripper in memory that sends it the pods' names, versions and
// generations: 200 bytes for each event, which it reads with encoding/json, where the
// others are given objects. There are two ways to send: at an even pace,
// where it counts how often one goroutine has to wake another, and in bursts, as
// after a rollout, where it counts how long the last of many waits. The column
// bare is no informer but one goroutine that gives the events to those of the
// handlers: at an even pace nobody can be faster than that.
//
// The goroutines are counted over HTTP, when all is quiet, without the server's
// and without those that net/http has per connection, which are the same for all.
package main
