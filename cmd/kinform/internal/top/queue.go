package top

import (
	"fmt"
	"maps"
	"slices"
)

// queuePicture shows the three sets of a workqueue: dirty, processing, and the queue itself.
type queuePicture struct {
	keys   map[string]*queueKey
	totals string
}

// queueKey is a key in the picture. It moves through its states one after another, at a speed that
// people can follow.
type queueKey struct {
	state queueKeyState
	steps []func(*queueKeyState) (stays bool)
	since float64
}

type queueKeyState struct {
	dirty, ready, processing, waiting bool
	merged                            int
}

const (
	stepInterval = 650 // in milliseconds
	maxQueueKeys = 80
	maxSteps     = 12
)

// queueRegions are the places where keys can be, from left to right.
var queueRegions = []struct{ title, text string }{
	{"in the queue", "dirty: due a turn"}, {"added meanwhile", "dirty and processing"}, {"processing", "with a worker"}, {"waiting", "for their time"},
}

func newQueuePicture() *queuePicture { return &queuePicture{keys: map[string]*queueKey{}} }

func (s queueKeyState) region() int {
	switch {
	case s.processing && s.dirty:
		return 1
	case s.processing:
		return 2
	case s.dirty:
		return 0
	case s.waiting:
		return 3
	}
	return -1
}

func (r *queuePicture) frame(s *frameData) {
	if s.boxes["queue"] != nil {
		r.totals = fmt.Sprintf("Now: %s dirty, %s of them in the queue; %s processing; %s waiting. In all, %s adds made a key dirty, and %s adds were merged because the key was already dirty.",
			s.formatted("queue", "dirty"), s.formatted("queue", "ready"), s.formatted("queue", "processing"), s.formatted("queue", "delayed"), s.formatted("queue", "adds"), s.formatted("queue", "merged"))
	}
	for _, e := range s.frame.Events {
		if e.Component == s.queue {
			r.step(e.Key, e.What)
		}
	}
	now := s.frame.At
	there := map[string]bool{}
	// A key that stays in one state has no events, so its state comes from the frame.
	for _, k := range s.keys().List {
		there[k.Key] = true
		if known := r.keys[k.Key]; known != nil && (len(known.steps) > 0 || now-known.since < 1500) {
			continue
		}
		is := queueKeyState{dirty: k.Dirty, ready: k.Ready, processing: k.Processing, waiting: k.DueIn > 0}
		r.addStep(k.Key, func(s *queueKeyState) bool { *s = is; return s.region() >= 0 })
	}
	for key, k := range r.keys {
		pace := stepInterval / (1 + max(float64(len(k.steps)-2), 0)/3)
		switch {
		case len(k.steps) > 0 && now-k.since >= pace:
			k.since = now
			stays := k.steps[0](&k.state)
			k.steps = k.steps[1:]
			if !stays && len(k.steps) == 0 {
				delete(r.keys, key)
			}
		case len(k.steps) == 0 && now-k.since > 2000 && !there[key]:
			delete(r.keys, key)
		}
	}
}

func (r *queuePicture) step(key, what string) {
	switch what {
	case "queued":
		r.addStep(key, func(s *queueKeyState) bool {
			s.dirty, s.waiting, s.ready, s.merged = true, false, !s.processing, 0
			return true
		})
	case "merged":
		r.addStep(key, func(s *queueKeyState) bool { s.dirty, s.ready = true, !s.processing; s.merged++; return true })
	case "taken":
		r.addStep(key, func(s *queueKeyState) bool {
			s.dirty, s.ready, s.processing, s.merged = false, false, true, 0
			return true
		})
	case "retried":
		r.addStep(key, func(s *queueKeyState) bool { s.waiting = true; return true })
	case "done":
		r.addStep(key, func(s *queueKeyState) bool { s.processing, s.ready = false, s.dirty; return s.dirty || s.waiting })
	}
}

func (r *queuePicture) addStep(key string, step func(*queueKeyState) bool) {
	k := r.keys[key]
	if k == nil {
		if len(r.keys) >= maxQueueKeys {
			return
		}
		k = &queueKey{since: -stepInterval}
		r.keys[key] = k
	}
	if len(k.steps) < maxSteps {
		k.steps = append(k.steps, step)
	}
}

func (r *queuePicture) lines(width, height int) []line {
	all := wrapped(muted, r.totals, width)
	between := []line{text(muted, "│")}
	wide := max((width-3)/4, 8)
	widths := []int{wide, wide, wide, max(width-3-3*wide, 8)}
	blocks := make([][]line, len(queueRegions))
	room := max(height-len(all)-2, 2)
	where := make([][]string, len(queueRegions))
	for _, key := range slices.Sorted(maps.Keys(r.keys)) {
		if at := r.keys[key].state.region(); at >= 0 {
			where[at] = append(where[at], key)
		}
	}
	for at, region := range queueRegions {
		blocks[at] = []line{text(strong, region.title), text(muted, region.text)}
		for n, key := range where[at] {
			if n == room-1 && n < len(where[at])-1 {
				blocks[at] = append(blocks[at], text(muted, fmt.Sprintf("and %d more", len(where[at])-n)))
				break
			}
			name := key
			times := ""
			if m := r.keys[key].state.merged; m > 0 {
				times = fmt.Sprintf(" ×%d", m+1)
			}
			blocks[at] = append(blocks[at], joined(line{{"(", muted}}, text(kindKey, shorten(name, widths[at]-2-cells(times))), text(accent, times), line{{")", muted}}))
		}
	}
	return append(all, sideBySide(blocks, widths, between)...)
}
