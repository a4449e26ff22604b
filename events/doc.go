// Package events records what happened to objects, as Events that "kubectl describe" and
// "kubectl get events" show: of events.k8s.io/v1, or of core/v1 by an option.
//
//	recorder.Normal(pod, ...) --> [series] --> Run: one request at a time --> API server
//	                   the same again: counted, and sent after a while
//
// A [Recorder] takes events from any goroutine, and [Recorder.Run] sends them:
//
//	recorder, err := events.New(client, "example.com/websites", events.Options{})
//	...
//	go recorder.Run(ctx)
//	recorder.Normal(website, "Published", "there are %d pages", pages)
//	recorder.Warning(website, "NoSuchTheme", "the theme %q does not exist", theme)
//
// [NewSink] is for tests: what was recorded can be read there, without a server.
//
// # Guarantees
//
//   - Recording never waits: not for the network, for Run, for a Logger or for an Observer. It
//     returns no error, and does not panic, whatever it is given.
//   - Memory is bounded: [Options].MaxSeries events are known at once, and four times as many
//     objects for the limits of rate. Texts are cut.
//   - Each event that was recorded is sent, waits to be sent, or was dropped: Stats.Recorded is
//     Stats.Sent plus Stats.Waiting plus all of Stats.Dropped. What is dropped is logged, with the reason.
//   - An event that is in vain is not repeated for ever: one that the server refuses is
//     dropped at once, and one that could not be sent for an hour then.
//   - After the end of its context, Run sends what waits, in no more than Options.FlushTimeout.
//     When it returns, no goroutine, timer or request of it remains.
//
// # Series
//
// Events are the same if object, related object, type, reason, action and note are. The second one and those after it
// make a series: one Event in the server with a count, which is written 10 seconds after the
// first one and then after twice the time that it took before, up to five minutes. A series is over when there
// was none for six minutes.
//
// Of one object, type, reason and action there are up to ten different notes in ten minutes. Those that follow are counted
// together, in an Event whose note begins with "(combined from similar events)" and goes on with that of
// the first of them.
//
// About one object, up to 25 Events are created at once, and one more every five minutes. What
// exceeds that is dropped. Counts of series are not limited by this.
//
// # Departures from client-go
//
//   - tools/events compares no notes: what differs from the first note is lost. tools/record writes the
//     count after each event, and drops those that exceed the rate limit, without a trace.
//   - The rate limit counts Events that are created, so that a series is never cut short by it.
//   - An Event that has expired in the server is created again with what was not counted
//     in it; tools/record begins with the whole count.
//   - The end waits for what is queued.
package events
