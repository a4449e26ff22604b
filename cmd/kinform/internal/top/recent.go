package top

import (
	"fmt"
	"strings"

	"github.com/kinform/kinform/view"
)

// recent keeps the last events of the sample. It keeps one list of all of them, and the events of
// each box for its lane.
type recent struct {
	now   float64
	all   []happened // the newest last
	lanes map[string][]happened
}

type happened struct {
	at    float64
	event view.Event
}

const (
	mostRecent = 60
	mostLane   = 60
	laneStays  = 4000 // in milliseconds
)

func newRecent() *recent { return &recent{lanes: map[string][]happened{}} }

// laneOf returns the box whose lane shows an event, or "" if no lane shows it.
func laneOf(e *view.Event) string {
	switch e.What {
	case view.Received, view.Item:
		return "reflector"
	case view.Delta:
		return "fifo"
	case view.Delivered:
		return "handlers"
	case view.Queued, view.Merged, view.Retried:
		return "queue"
	case view.Taken, view.Done, view.Failed:
		return "workers"
	}
	return ""
}

func (r *recent) frame(s *seen) {
	r.now = s.frame.At
	for n := range s.frame.Events {
		e := &s.frame.Events[n]
		h := happened{s.at(e), *e}
		r.all = keep(r.all, h, mostRecent)
		if lane := laneOf(e); lane != "" && (e.Of == "" || lane == "handlers" || e.Of == s.queue) {
			r.lanes[lane] = keep(r.lanes[lane], h, mostLane)
			if lane == "handlers" { // The store had the object before the handler was called.
				r.lanes["store"] = keep(r.lanes["store"], h, mostLane)
			}
			if lane == "reflector" && e.What == view.Received {
				r.lanes["server"] = keep(r.lanes["server"], h, mostLane)
			}
		}
	}
}

// keep appends an event. It drops the oldest event if there are too many.
func keep(all []happened, h happened, most int) []happened {
	if len(all) >= most {
		copy(all, all[1:])
		all = all[:len(all)-1]
	}
	return append(all, h)
}

// lane shows a letter for each of the last events of a box, the newest first.
func (r *recent) lane(box string, width int) (l line) {
	all := r.lanes[box]
	for n := len(all) - 1; n >= 0 && len(l) < width; n-- {
		h := all[n]
		if r.now-h.at > laneStays {
			break
		}
		l = append(l, markOf(&h.event))
	}
	return l
}

// markOf returns the letter of an event. It is the letter of the event's kind, or a separate letter
// for events of keys.
func markOf(e *view.Event) span {
	switch e.What {
	case view.Merged:
		return span{"m", kindKey}
	case view.Retried:
		return span{"r", kindModified}
	case view.Failed:
		return span{"x", bad}
	case view.Done:
		return span{"d", good}
	case view.Phase, view.Page, view.Pause, view.Batch:
		return span{"*", accent}
	}
	return kindOf(e.Kind).mark()
}

// lines shows the last events, the newest on top.
func (r *recent) lines(width, height int) (all []line) {
	for n := len(r.all) - 1; n >= 0 && len(all) < height; n-- {
		h := r.all[n]
		e := &h.event
		ago := max(r.now-h.at, 0) / 1000
		all = append(all, joined(text(soft, fmt.Sprintf("%6.1f s ", ago)), line{markOf(e)}, text(plain, " "+describe(e))).fit(width))
	}
	if len(all) == 0 {
		all = append(all, text(soft, "Nothing has happened since this view was opened."))
	}
	return all
}

// describe describes an event in words.
func describe(e *view.Event) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	switch e.What {
	case view.Phase:
		say("the reflector is %s", e.Kind)
		if e.Cause != "" {
			say(", from %s", e.Cause)
		}
	case view.Page:
		say("a list, or a page of a list: %d objects", e.Count)
	case view.Item:
		say("%s is in a list, %s", e.Key, e.Kind)
	case view.Pause:
		say("the reflector waits %s", seconds(e.Wait))
	case view.Received:
		say("the watch delivered %s", strings.TrimSpace(e.Kind+" "+e.Key))
		if e.Version != "" {
			say(", version %s", e.Version)
		}
	case view.Delta:
		say("%s of %s is on the shelf", e.Kind, e.Key)
	case view.Batch:
		say("the informer takes %d keys", e.Count)
	case view.Delivered:
		say("handler %s was called with %s %s, because of a %s", e.Of, e.Kind, e.Key, e.Cause)
	case view.Queued:
		say("%s is in queue %s", e.Key, e.Of)
	case view.Merged:
		say("%s was added again, and the add was merged", e.Key)
	case view.Taken:
		say("a worker takes %s, for %s", e.Key, plural(max(e.Count, 1), "add"))
	case view.Done:
		say("a worker is done with %s", e.Key)
	case view.Failed:
		say("reconcile of %s failed", e.Key)
	case view.Retried:
		say("%s comes back in %s", e.Key, seconds(e.Wait))
	default:
		say("%s %s %s", e.What, e.Kind, e.Key)
	}
	if e.Text != "" {
		say(": %s", e.Text)
	}
	return b.String()
}
