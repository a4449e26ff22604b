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
	slowEvent     = 5 * time.Second  // an event waits for its handler, a delta for the informer
	slowKey       = 10 * time.Second // wait of a key for a worker
	slowReconcile = time.Minute      // duration of a reconcile
	longSilence   = 2 * time.Minute  // silence of the server; bookmarks arrive about once a minute
)

// problemsOf returns the problems of an informer, the worst first.
func problemsOf(s informer.Status) (problems []string) {
	add := func(format string, args ...any) { problems = append(problems, clean(fmt.Sprintf(format, args...))) }
	r := s.Reflector
	if !s.Synced {
		add("not synced: %s", phaseOf(r))
	}
	if r.Failures > 0 && r.Phase != reflector.Watching && r.LastError != nil {
		// If a watch is open, it may work in spite of earlier failures.
		add("%d failures in a row, the last one: %v", r.Failures, rootCause(r.LastError))
	}
	if s.Undecodable.Count > 0 {
		add("%d objects cannot be read", s.Undecodable.Count)
	}
	for _, part := range s.Parts {
		add("a part of the source cannot be read: %s: %v", part.Part, part.Err)
	}
	lastReceived := r.LastListAt
	if r.LastEventAt.After(lastReceived) {
		lastReceived = r.LastEventAt
	}
	if silent := time.Since(lastReceived); !lastReceived.IsZero() && silent > longSilence {
		add("no data from the server for %v", silent.Round(time.Second))
	}
	if s.Queue.OldestAge > slowEvent {
		add("changes have waited for the informer for %v", s.Queue.OldestAge.Round(100*time.Millisecond))
	}
	for _, h := range s.Handlers {
		if h.Oldest > slowEvent {
			add("handler %s is slow: %d events wait, the first for %v", h.Name, h.Waiting, h.Oldest.Round(100*time.Millisecond))
		}
		if h.Panics > 0 {
			add("handler %s has panicked %d times", h.Name, h.Panics)
		}
	}
	return problems
}

// queueProblems returns the problems of a queue.
func queueProblems(s workqueue.Stats, keys inspectedKeys, rec *recorder) (problems []string) {
	add := func(format string, args ...any) { problems = append(problems, clean(fmt.Sprintf(format, args...))) }
	if s.OldestReady > slowKey {
		add("queue %s: a key has waited for a worker for %v", s.Name, s.OldestReady.Round(100*time.Millisecond))
	}
	if s.LongestRunning > slowReconcile {
		add("queue %s: a worker has had a key for %v", s.Name, s.LongestRunning.Round(time.Second))
	}
	switch failing := rec.recentFailures(s, time.Now()); {
	case keys.failing > 0:
		add("queue %s: keys that fail again and again: %d, such as %s: %d failures in a row", s.Name, keys.failing, keys.worst.Key, keys.worst.Retries)
	case keys.list == nil && failing > 0:
		add("queue %s: reconciles that have failed recently: %d, and %d keys wait for the end of a delay", s.Name, failing, s.Delayed)
	}
	if s.StrayDones > 0 {
		add("queue %s: Done was called %d times for keys that no worker had", s.Name, s.StrayDones)
	}
	return problems
}

// rootCause returns the cause of an error without the failed request, because the request's address
// is long and always the same.
func rootCause(err error) error {
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
