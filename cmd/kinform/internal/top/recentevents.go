package top

import (
	"fmt"
	"strings"

	"github.com/kinform/kinform/view"
)

// recentEvents keeps the last events of the sample: one list of all events, and one for the strip
// of each box.
type recentEvents struct {
	now    float64
	all    []timedEvent // the newest last
	strips map[string][]timedEvent
}

type timedEvent struct {
	at    float64
	event view.Event
}

const (
	maxRecent = 60
	maxStrip  = 60
	stripTTL  = 4000 // in milliseconds
)

func newRecentEvents() *recentEvents { return &recentEvents{strips: map[string][]timedEvent{}} }

// stripBox returns the box whose strip shows an event, or "" if no strip shows it.
func stripBox(e *view.Event) string {
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

func (r *recentEvents) frame(s *frameData) {
	r.now = s.frame.At
	for n := range s.frame.Events {
		e := &s.frame.Events[n]
		h := timedEvent{s.at(e), *e}
		r.all = appendBounded(r.all, h, maxRecent)
		if lane := stripBox(e); lane != "" && (e.Component == "" || lane == "handlers" || e.Component == s.queue) {
			r.strips[lane] = appendBounded(r.strips[lane], h, maxStrip)
			if lane == "handlers" { // The store had the object before the handler was called.
				r.strips["store"] = appendBounded(r.strips["store"], h, maxStrip)
			}
			if lane == "reflector" && e.What == view.Received {
				r.strips["server"] = appendBounded(r.strips["server"], h, maxStrip)
			}
		}
	}
}

// appendBounded appends an event. It drops the oldest event if there are too many.
func appendBounded(all []timedEvent, h timedEvent, most int) []timedEvent {
	if len(all) >= most {
		copy(all, all[1:])
		all = all[:len(all)-1]
	}
	return append(all, h)
}

// strip shows a letter for each of the last events of a box, the newest first.
func (r *recentEvents) strip(box string, width int) (l line) {
	all := r.strips[box]
	for n := len(all) - 1; n >= 0 && len(l) < width; n-- {
		h := all[n]
		if r.now-h.at > stripTTL {
			break
		}
		l = append(l, eventLetter(&h.event))
	}
	return l
}

// eventLetter returns the letter of an event. It is the letter of the event's kind, or a separate
// letter for events of keys.
func eventLetter(e *view.Event) span {
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
	return kindOf(e.Kind).letterSpan()
}

// lines shows the last events, the newest on top.
func (r *recentEvents) lines(width, height int) (all []line) {
	for n := len(r.all) - 1; n >= 0 && len(all) < height; n-- {
		h := r.all[n]
		e := &h.event
		ago := max(r.now-h.at, 0) / 1000
		all = append(all, joined(text(muted, fmt.Sprintf("%6.1f s ", ago)), line{eventLetter(e)}, text(plain, " "+describe(e))).fit(width))
	}
	if len(all) == 0 {
		all = append(all, text(muted, "Nothing has happened since this view was opened."))
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
		say("handler %s was called with %s %s, because of a %s", e.Component, e.Kind, e.Key, e.Cause)
	case view.Queued:
		say("%s is in queue %s", e.Key, e.Component)
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
