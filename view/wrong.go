package view

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// Durations above which a wait counts as a problem.
const (
	slowEvent  = 5 * time.Second  // an event waits for its handler, a delta for the informer
	slowKey    = 10 * time.Second // wait of a key for a worker
	longTurn   = time.Minute      // duration of a reconcile
	longSilent = 2 * time.Minute  // silence of the server; bookmarks arrive about once a minute
)

// wrongOf returns the problems of an informer, the worst first.
func wrongOf(s informer.Status) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, clean(fmt.Sprintf(format, args...))) }
	r := s.Reflector
	if !s.Synced {
		say("not synced: %s", phaseOf(r))
	}
	if r.Failures > 0 && r.Phase != reflector.Watching && r.LastError != nil {
		// an open watch may work
		say("%d failures in a row, the last one: %v", r.Failures, reason(r.LastError))
	}
	if s.Unreadable.Count > 0 {
		say("%d objects cannot be read", s.Unreadable.Count)
	}
	for _, part := range s.Parts {
		say("a part of the source cannot be read: %s: %v", part.Part, part.Err)
	}
	heard := r.LastListAt
	if r.LastEventAt.After(heard) {
		heard = r.LastEventAt
	}
	if silent := time.Since(heard); !heard.IsZero() && silent > longSilent {
		say("no data from the server for %v", silent.Round(time.Second))
	}
	if s.Queue.OldestAge > slowEvent {
		say("changes have waited for the informer for %v", s.Queue.OldestAge.Round(100*time.Millisecond))
	}
	for _, h := range s.Handlers {
		if h.Oldest > slowEvent {
			say("handler %s is slow: %d events wait, the first for %v", h.Name, h.Waiting, h.Oldest.Round(100*time.Millisecond))
		}
		if h.Panics > 0 {
			say("handler %s has panicked %d times", h.Name, h.Panics)
		}
	}
	return wrong
}

// wrongOfQueue returns the problems of a queue.
func wrongOfQueue(s workqueue.Stats, keys inspected, rec *recorder) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, clean(fmt.Sprintf(format, args...))) }
	if s.OldestReady > slowKey {
		say("queue %s: a key has waited for a worker for %v", s.Name, s.OldestReady.Round(100*time.Millisecond))
	}
	if s.LongestRunning > longTurn {
		say("queue %s: a worker has had a key for %v", s.Name, s.LongestRunning.Round(time.Second))
	}
	switch failing := rec.failing(s, time.Now()); {
	case keys.failing > 0:
		say("queue %s: keys that fail again and again: %d, such as %s: %d failures in a row", s.Name, keys.failing, keys.worst.Key, keys.worst.Retries)
	case keys.list == nil && failing > 0:
		say("queue %s: reconciles that have failed recently: %d, and %d keys wait for the end of a delay", s.Name, failing, s.Delayed)
	}
	if s.StrayDones > 0 {
		say("queue %s: Done was called %d times for keys that no worker had", s.Name, s.StrayDones)
	}
	return wrong
}

// reason returns the cause of an error. It leaves out the failed request, because its address is
// long and always the same.
func reason(err error) error {
	if request, ok := errors.AsType[*rest.Error](err); ok && request.Err != nil {
		return request.Err
	}
	return err
}

func indexesOf(values map[string]int) (all []Index) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, Index{clean(name), values[name]})
	}
	return all
}
