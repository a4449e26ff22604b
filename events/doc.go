// Package events records events about objects, which "kubectl describe" and "kubectl get events"
// show. The Events are of events.k8s.io/v1, or of core/v1 by an option.
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
// [NewSink] is for tests: a test can read the recorded events from the Sink, without a server.
//
// # Guarantees
//
//   - Recording never waits for the network, for Run, for a Logger or for an Observer. The methods
//     that record return no error and do not panic, whatever their arguments are.
//   - Memory is bounded. A Recorder remembers [Options].MaxSeries different events at once, and
//     four times as many objects for the rate limit. A Recorder truncates long texts.
//   - Each recorded event was sent, is waiting, or was dropped: Stats.Recorded equals Stats.Sent
//     plus Stats.Waiting plus the sum of Stats.Dropped. Run logs dropped events, with the reason.
//   - No event is retried for ever. If the server refuses an event, Run drops the event at once. If
//     an event cannot be sent for an hour, Run drops the event.
//   - After the end of its context, Run still sends the waiting events, for at most
//     Options.FlushTimeout. When Run returns, no goroutine, timer or request of Run remains.
//
// # Series
//
// Two events are equal if object, related object, type, reason, action and note are equal. Equal
// events form a series: one Event on the server with a count. The Recorder writes the count 10
// seconds after the first event, and then at intervals that double, up to five minutes. A series
// ends after six minutes without another event.
//
// Events of one object, type, reason and action may have up to ten different notes in ten minutes.
// Later notes are counted together in one Event, whose note is "(combined from similar events)"
// followed by the first of these notes.
//
// About one object, up to 25 Events are created at once, and one more every five minutes. The
// Recorder drops further Events about the object. Counts of series have no such limit.
//
// # Departures from client-go
//
//   - tools/events does not compare notes, so it loses notes that differ from the first one.
//     tools/record writes the count after each event, and silently drops events beyond the rate
//     limit.
//   - The rate limit counts the Events that are created, and so never ends a series.
//   - If an Event has expired on the server, the Recorder creates another one with the events that
//     the first did not count; tools/record begins with the whole count.
//   - Run sends the queued events before it ends.
package events
