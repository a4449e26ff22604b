package top

import (
	"fmt"
	"math"
	"strings"
)

// journey follows single changes, and shows how long each stage takes.
type journey struct {
	going  map[string]*change
	ended  []*change // the newest first
	pinned *change
}

type change struct {
	key, kind string
	times     map[string]float64 // in milliseconds
	why       []string
	alone     bool // The pipeline has no queue, so the journey ends at the handler.
}

type journeyPart struct{ id, title string }

// journeyParts are the parts of a journey. Each part ends with the named event.
var journeyParts = []journeyPart{
	{"delta", "to the shelf"}, {"batch", "on the shelf"}, {"applied", "into the store"}, {"called", "in the mailbox"},
	{"queued", "in the handler"}, {"taken", "in the queue"}, {"done", "with a worker"},
}

const (
	keptJourneys = 14
	mostGoing    = 400
	mostWhy      = 12
)

func newJourney() *journey { return &journey{going: map[string]*change{}} }

// at(id, t) stores t as the time with this id, unless that time is known already.
func (c *change) at(id string, at float64) {
	if _, known := c.times[id]; !known {
		c.times[id] = at
	}
}

func (c *change) has(id string) bool { _, known := c.times[id]; return known }

func (c *change) because(format string, args ...any) {
	if len(c.why) < mostWhy {
		c.why = append(c.why, fmt.Sprintf(format, args...))
	}
}

func (j *journey) frame(s *seen) {
	for n := range s.frame.Events {
		e := &s.frame.Events[n]
		at := s.at(e)
		if e.What == "batch" {
			for _, c := range j.going {
				if c.has("delta") {
					c.at("batch", at)
				}
			}
			continue
		}
		if e.Key == "" {
			continue
		}
		if e.What == "received" {
			if len(j.going) >= mostGoing { // drops all unfinished journeys
				clear(j.going)
			}
			c := &change{key: e.Key, kind: e.Kind, times: map[string]float64{"received": at}}
			c.because("the watch delivered %s, version %s", e.Kind, e.Version)
			j.going[e.Key] = c
			continue
		}
		c := j.going[e.Key]
		if c == nil {
			continue
		}
		here := e.Of == s.queue
		switch {
		case e.What == "delta":
			c.at("delta", at)
		case e.What == "delivered":
			c.at("called", at-e.Ran*1000)
			c.at("applied", c.times["called"]-e.Wait*1000) // mailbox entered when stored
			c.because("handler %s was called with %s, because of a %s, after %s in its mailbox", e.Of, e.Kind, e.Cause, seconds(e.Wait))
			if s.queue == "" {
				c.alone = true
				c.at("queued", at)
				j.end(c, at)
			}
		case e.What == "queued" && here:
			c.at("queued", at)
			c.because("the handler added the key to the queue")
		case e.What == "merged" && here:
			c.at("queued", at)
			c.because("the key was already dirty, so this add was merged")
		case e.What == "taken" && here && c.has("queued"):
			c.at("taken", at)
			adds := "add"
			if e.Count > 1 {
				adds = "adds"
			}
			c.because("a worker took the key, for %d %s", max(e.Count, 1), adds)
		case e.What == "failed" && here:
			c.because("reconcile failed: %s", e.Text)
		case e.What == "retried" && here:
			c.because("the key comes back after %s", seconds(e.Wait))
		case e.What == "done" && here && c.has("taken"):
			c.because("the worker was done with the key")
			j.end(c, at)
		}
	}
}

func (j *journey) end(c *change, at float64) {
	c.at("done", at)
	delete(j.going, c.key)
	j.ended = append([]*change{c}, j.ended[:min(len(j.ended), keptJourneys-1)]...)
}

// parts returns the parts of a journey. Without a queue, the journey ends when the handler returns.
func (c *change) parts() []journeyPart {
	if c.alone {
		return journeyParts[:5]
	}
	return journeyParts
}

func (c *change) total() float64 { return max(c.times["done"]-c.times["received"], 0.001) }

// key handles a key: it selects the journey before or after the current one. Enter selects the
// newest journey again, and follows new ones.
func (j *journey) key(name string) bool {
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

func (j *journey) lines(width, height int) []line {
	shown := j.pinned
	if shown == nil && len(j.ended) > 0 {
		shown = j.ended[0]
	}
	if shown == nil {
		return []line{text(soft, "No change has passed through the pipeline yet.")}
	}
	total := shown.total()
	k := kindOf(shown.kind)
	left := []line{joined(line{k.mark()}, text(strong, fmt.Sprintf(" %s: %s, %s in all", shown.key, shown.kind, seconds(total/1000))))}
	list := 0
	if width >= 110 {
		list = 40
	}
	const title, took = 16, 9
	room := max(width-list-title-took-2, 8)
	from := shown.times["received"]
	for _, p := range shown.parts() {
		to := from
		if shown.has(p.id) {
			to = max(shown.times[p.id], from)
		}
		at := int(math.Round((from - shown.times["received"]) / total * float64(room)))
		long := int(math.Round((to - from) / total * float64(room)))
		at, long = min(max(at, 0), room), max(long, 0)
		drawing := strings.Repeat("█", min(long, room-at))
		if long == 0 && to > from {
			at, drawing = min(at, room-1), "▏"
		}
		left = append(left, joined(text(soft, p.title).fit(title), text(plain, fmt.Sprintf("%8s ", seconds((to-from)/1000))), text(accent, strings.Repeat(" ", at)+drawing)))
		from = to
	}
	for n, why := range shown.why {
		left = append(left, joined(text(soft, fmt.Sprintf("%2d. ", n+1)), text(plain, why)))
	}
	if list == 0 {
		if len(left) < height {
			left = append(left, text(soft, "↑ ↓ another change, Enter the newest"))
		}
		return left
	}
	right := []line{text(soft, "↑ ↓ another change, Enter the newest")}
	for _, c := range j.ended {
		k, how := kindOf(c.kind), plain
		if c == shown {
			how = marked
		}
		took := seconds(c.total() / 1000)
		right = append(right, joined(line{k.mark(), {" ", plain}}, text(how, short(c.key, list-14)).fit(list-13), text(soft, took)))
	}
	return beside([][]line{left, right}, []int{width - list, list}, nil)
}
