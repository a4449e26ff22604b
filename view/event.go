package view

import (
	"cmp"
	"slices"
	"time"
)

// What an [Event] reports, in the order in which a change comes through the pipeline.
const (
	// Phase: the reflector is in another phase: Kind, from Cause. Text says what has failed.
	Phase = "phase"
	// Page: a page of a list has been read, with Count objects.
	Page = "page"
	// Item: an object of a list. Kind is "decoded", or "unchanged" if the store had its version.
	Item = "item"
	// Pause: the reflector waits, for Wait.
	Pause = "pause"
	// Received: an event of a watch, or of a streaming list. Kind is ADDED and so on, or BOOKMARK, which has no
	// key.
	Received = "received"
	// Delta: a delta has been put on the shelf. Kind is Added, Updated, Deleted, Replaced or Sync.
	Delta = "delta"
	// Batch: all of the shelf has been taken, Count keys. Kind is "initial" for the first list, "replaced" for
	// another, else empty.
	Batch = "batch"
	// Delivered: the handler Of has returned. Kind is Added, Updated or Deleted, Cause why it was called. Wait is how long the
	// event lay in the mailbox: it was put there when the store had it.
	Delivered = "delivered"
	// Queued: a key has become dirty.
	Queued = "queued"
	// Merged: a key was added that was dirty already.
	Merged = "merged"
	// Taken: a worker has been given a key, for Count adds.
	Taken = "taken"
	// Done: a worker is done with a key.
	Done = "done"
	// Failed: reconcile has failed. Text says why.
	Failed = "failed"
	// Retried: a key will be added after Wait.
	Retried = "retried"
)

// Event is something that happened to one object, or in one stage. Only the fields that apply are set. It
// never has the content of an object.
type Event struct {
	What string `json:"e"`

	// At is the time before the frame's in milliseconds: 0 or less.
	At float64 `json:"at"`

	// Of is the handler, or the queue.
	Of string `json:"of,omitempty"`

	Kind    string `json:"kind,omitempty"`
	Cause   string `json:"cause,omitempty"`
	Key     string `json:"key,omitempty"`
	Version string `json:"rv,omitempty"`

	// Wait is how long it waited, or will wait, and Ran how long it took, in seconds.
	Wait float64 `json:"wait,omitempty"`
	Ran  float64 `json:"ran,omitempty"`

	Count int    `json:"n,omitempty"`
	Text  string `json:"text,omitempty"`
}

// events makes events of what was noted, in the order of their times.
func events(all []noted, now time.Time) []Event {
	slices.SortStableFunc(all, func(a, b noted) int { return cmp.Compare(a.at.Sub(b.at), 0) })
	made := make([]Event, len(all))
	for i, e := range all {
		made[i] = Event{
			What: e.what, At: milliseconds(min(e.at.Sub(now), 0)), Of: clean(e.of), Kind: e.kind, Cause: e.cause,
			Key: cmp.Or(e.name, nameOfKey(e.key)), Version: clean(e.version),
			Wait: e.waited.Seconds(), Ran: e.ran.Seconds(), Count: e.count, Text: clean(e.text),
		}
	}
	return made
}

// milliseconds has three digits after the point.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
