package top

import (
	"fmt"
	"math"
	"strings"
)

// journeyPicture follows single changes, and shows how long each stage takes.
type journeyPicture struct {
	open   map[string]*trackedChange
	ended  []*trackedChange // the newest first
	pinned *trackedChange
}

type trackedChange struct {
	key, kind    string
	times        map[string]float64 // in milliseconds
	reasons      []string
	withoutQueue bool // The pipeline has no queue, so the journey ends at the handler.
}

type journeyStage struct{ id, title string }

// journeyStages are the parts of a journey. Each part ends with the named event.
var journeyStages = []journeyStage{
	{"delta", "to the shelf"}, {"batch", "on the shelf"}, {"applied", "into the store"}, {"called", "in the mailbox"},
	{"queued", "in the handler"}, {"taken", "in the queue"}, {"done", "with a worker"},
}

const (
	maxEnded   = 14
	maxOpen    = 400
	maxReasons = 12
)

func newJourneyPicture() *journeyPicture { return &journeyPicture{open: map[string]*trackedChange{}} }

// setTime(id, t) stores t as the time with this id, unless that time is known already.
func (c *trackedChange) setTime(id string, setTime float64) {
	if _, known := c.times[id]; !known {
		c.times[id] = setTime
	}
}

func (c *trackedChange) hasTime(id string) bool { _, known := c.times[id]; return known }

func (c *trackedChange) addReason(format string, args ...any) {
	if len(c.reasons) < maxReasons {
		c.reasons = append(c.reasons, fmt.Sprintf(format, args...))
	}
}

func (j *journeyPicture) frame(s *frameData) {
	for n := range s.frame.Events {
		e := &s.frame.Events[n]
		at := s.at(e)
		if e.What == "batch" {
			for _, c := range j.open {
				if c.hasTime("delta") {
					c.setTime("batch", at)
				}
			}
			continue
		}
		if e.Key == "" {
			continue
		}
		if e.What == "received" {
			if len(j.open) >= maxOpen { // drops all unfinished journeys
				clear(j.open)
			}
			c := &trackedChange{key: e.Key, kind: e.Kind, times: map[string]float64{"received": at}}
			c.addReason("the watch delivered %s, version %s", e.Kind, e.Version)
			j.open[e.Key] = c
			continue
		}
		c := j.open[e.Key]
		if c == nil {
			continue
		}
		here := e.Component == s.queue
		switch {
		case e.What == "delta":
			c.setTime("delta", at)
		case e.What == "delivered":
			c.setTime("called", at-e.Ran*1000)
			c.setTime("applied", c.times["called"]-e.Wait*1000) // mailbox entered when stored
			c.addReason("handler %s was called with %s, because of a %s, after %s in its mailbox", e.Component, e.Kind, e.Cause, seconds(e.Wait))
			if s.queue == "" {
				c.withoutQueue = true
				c.setTime("queued", at)
				j.end(c, at)
			}
		case e.What == "queued" && here:
			c.setTime("queued", at)
			c.addReason("the handler added the key to the queue")
		case e.What == "merged" && here:
			c.setTime("queued", at)
			c.addReason("the key was already dirty, so this add was merged")
		case e.What == "taken" && here && c.hasTime("queued"):
			c.setTime("taken", at)
			adds := "add"
			if e.Count > 1 {
				adds = "adds"
			}
			c.addReason("a worker took the key, for %d %s", max(e.Count, 1), adds)
		case e.What == "failed" && here:
			c.addReason("reconcile failed: %s", e.Text)
		case e.What == "retried" && here:
			c.addReason("the key comes back after %s", seconds(e.Wait))
		case e.What == "done" && here && c.hasTime("taken"):
			c.addReason("the worker was done with the key")
			j.end(c, at)
		}
	}
}

func (j *journeyPicture) end(c *trackedChange, at float64) {
	c.setTime("done", at)
	delete(j.open, c.key)
	j.ended = append([]*trackedChange{c}, j.ended[:min(len(j.ended), maxEnded-1)]...)
}

// stages returns the parts of a journey. Without a queue, the journey ends when the handler
// returns.
func (c *trackedChange) stages() []journeyStage {
	if c.withoutQueue {
		return journeyStages[:5]
	}
	return journeyStages
}

func (c *trackedChange) total() float64 { return max(c.times["done"]-c.times["received"], 0.001) }

// key handles a key: it selects the journey before or after the current one. Enter selects the
// newest journey again, and follows new ones.
func (j *journeyPicture) key(name string) bool {
	at := 0
	for n, c := range j.ended {
		if c == j.pinned {
			at = n
		}
	}
	switch name {
	case "up":
		at--
	case "down":
		at++
	case "enter":
		j.pinned = nil
		return true
	default:
		return false
	}
	if len(j.ended) > 0 {
		j.pinned = j.ended[min(max(at, 0), len(j.ended)-1)]
	}
	return true
}

func (j *journeyPicture) lines(width, height int) []line {
	shown := j.pinned
	if shown == nil && len(j.ended) > 0 {
		shown = j.ended[0]
	}
	if shown == nil {
		return []line{text(muted, "No change has passed through the pipeline yet.")}
	}
	total := shown.total()
	k := kindOf(shown.kind)
	left := []line{joined(line{k.letterSpan()}, text(strong, fmt.Sprintf(" %s: %s, %s in all", shown.key, shown.kind, seconds(total/1000))))}
	list := 0
	if width >= 110 {
		list = 40
	}
	const title, took = 16, 9
	room := max(width-list-title-took-2, 8)
	from := shown.times["received"]
	for _, p := range shown.stages() {
		to := from
		if shown.hasTime(p.id) {
			to = max(shown.times[p.id], from)
		}
		at := int(math.Round((from - shown.times["received"]) / total * float64(room)))
		long := int(math.Round((to - from) / total * float64(room)))
		at, long = min(max(at, 0), room), max(long, 0)
		drawing := strings.Repeat("█", min(long, room-at))
		if long == 0 && to > from {
			at, drawing = min(at, room-1), "▏"
		}
		left = append(left, joined(text(muted, p.title).fit(title), text(plain, fmt.Sprintf("%8s ", seconds((to-from)/1000))), text(accent, strings.Repeat(" ", at)+drawing)))
		from = to
	}
	for n, why := range shown.reasons {
		left = append(left, joined(text(muted, fmt.Sprintf("%2d. ", n+1)), text(plain, why)))
	}
	if list == 0 {
		if len(left) < height {
			left = append(left, text(muted, "↑ ↓ another change, Enter the newest"))
		}
		return left
	}
	right := []line{text(muted, "↑ ↓ another change, Enter the newest")}
	for _, c := range j.ended {
		k, how := kindOf(c.kind), plain
		if c == shown {
			how = selected
		}
		took := seconds(c.total() / 1000)
		right = append(right, joined(line{k.letterSpan(), {" ", plain}}, text(how, shorten(c.key, list-14)).fit(list-13), text(muted, took)))
	}
	return sideBySide([][]line{left, right}, []int{width - list, list}, nil)
}
