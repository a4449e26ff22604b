// Command latency measures how long an event takes from the server's write to a handler's call. It
// measures kinform, client-go and package plain, the textbook pipeline, with ten handlers of which
// one is slow. It also counts the goroutines of an informer and of a handler.
//
// For the latency the server is in memory and sends the same events to all sides. So only the
// pipeline is measured: from the watch stream through the queue, the store and the mailboxes. plain
// reads only JSON over HTTP. So it has an in-memory http.RoundTripper that sends the pods' names,
// versions and generations. plain decodes these 200 bytes for each event with encoding/json, while
// the other sides get objects. Events are sent in two ways. At an even pace the number of wake-ups
// between goroutines matters. In bursts, as after a rollout, the wait of the last event matters.
// The column bare is not an informer but one goroutine that passes the events to the handlers'
// goroutines: at an even pace no side can be faster.
//
// The goroutines are counted over HTTP, when everything is idle. Goroutines of the server, and the
// goroutines of net/http for each connection, do not count, because all sides have them.
package main
