package view

import (
	"cmp"
	"slices"
	"time"
)

// Values of [Event].What, in the order in which a change passes through the pipeline.
const (
	// Phase: the reflector enters phase Kind because of Cause. Text is the error.
	Phase = "phase"
	// Page: a page of a list has been read, with Count objects.
	Page = "page"
	// Item: an object of a list. Kind is "decoded", or "unchanged" if the store had its version.
	Item = "item"
	// Pause: the reflector waits for Wait.
	Pause = "pause"
	// Received: an event of a watch or of a streaming list. Kind is the event type, such as ADDED.
	// A BOOKMARK has no key.
	Received = "received"
	// Delta: a delta has been queued for the informer. Kind is Added, Updated, Deleted, Replaced or
	// Sync.
	Delta = "delta"
	// Batch: the informer has popped all queued deltas, of Count keys. Kind is "initial" for the
	// first list, "replaced" for another list, else empty.
	Batch = "batch"
	// Delivered: the handler Component has returned. Kind is Added, Updated or Deleted, and Cause
	// is the reason of the call. Wait is how long the event waited in the handler's mailbox. An
	// event enters the mailbox when the store has it.
	Delivered = "delivered"
	// Queued: a key has become dirty.
	Queued = "queued"
	// Merged: a key that was already dirty was added again.
	Merged = "merged"
	// Taken: a worker has taken a key that was added Count times.
	Taken = "taken"
	// Done: a worker has finished a key.
	Done = "done"
	// Failed: reconcile has failed. Text is the error.
	Failed = "failed"
	// Retried: a key will be added again after Wait.
	Retried = "retried"
)

// Event is an event of one object or of one stage. Only the fields that apply are set. An Event
// never has the content of an object.
type Event struct {
	What string `json:"e"`

	// At is the time relative to the frame's time, in milliseconds. It is 0 or negative.
	At float64 `json:"at"`

	// Component is the name of the handler or the queue.
	Component string `json:"of,omitempty"`

	Kind    string `json:"kind,omitempty"`
	Cause   string `json:"cause,omitempty"`
	Key     string `json:"key,omitempty"`
	Version string `json:"rv,omitempty"`

	// Wait is a duration in seconds: how long an object waited before the event, or waits after it.
	// Ran is the duration of the work in seconds.
	Wait float64 `json:"wait,omitempty"`
	Ran  float64 `json:"ran,omitempty"`

	Count int    `json:"n,omitempty"`
	Text  string `json:"text,omitempty"`
}

// events converts recorded events to Events, sorted by time.
func events(all []recordedEvent, now time.Time) []Event {
	slices.SortStableFunc(all, func(a, b recordedEvent) int { return cmp.Compare(a.at.Sub(b.at), 0) })
	made := make([]Event, len(all))
	for i, e := range all {
		made[i] = Event{
			What: e.what, At: milliseconds(min(e.at.Sub(now), 0)), Component: clean(e.of), Kind: e.kind, Cause: e.cause,
			Key: cmp.Or(e.name, nameOfKey(e.key)), Version: clean(e.version),
			Wait: e.waited.Seconds(), Ran: e.ran.Seconds(), Count: e.count, Text: clean(e.text),
		}
	}
	return made
}

// milliseconds returns d in milliseconds, to the microsecond.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
