package top

import (
	"fmt"
	"maps"
	"slices"
)

// rings shows the three sets of a workqueue: dirty, processing, and the queue itself.
type rings struct {
	keys   map[string]*ringed
	totals string
}

// ringed is a key in the picture. It moves through its states one after another, at a speed that
// people can follow.
type ringed struct {
	state ringState
	steps []func(*ringState) (stays bool)
	since float64
}

type ringState struct {
	dirty, ready, processing, waiting bool
	merged                            int
}

const (
	ringPace  = 650 // in milliseconds
	mostRings = 80
	mostSteps = 12
)

// regions are the places where keys can be, from left to right.
var regions = []struct{ title, text string }{
	{"in the queue", "dirty: due a turn"}, {"added meanwhile", "dirty and processing"}, {"processing", "with a worker"}, {"waiting", "for their time"},
}

func newRings() *rings { return &rings{keys: map[string]*ringed{}} }

func (s ringState) region() int {
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

func (r *rings) frame(s *seen) {
	if s.boxes["queue"] != nil {
		r.totals = fmt.Sprintf("Now: %s dirty, %s of them in the queue; %s processing; %s waiting. In all, %s adds made a key dirty, and %s adds were merged because the key was already dirty.",
			s.counted("queue", "dirty"), s.counted("queue", "ready"), s.counted("queue", "processing"), s.counted("queue", "delayed"), s.counted("queue", "adds"), s.counted("queue", "merged"))
	}
	for _, e := range s.frame.Events {
		if e.Of == s.queue {
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
		is := ringState{dirty: k.Dirty, ready: k.Ready, processing: k.Processing, waiting: k.In > 0}
		r.then(k.Key, func(s *ringState) bool { *s = is; return s.region() >= 0 })
	}
	for key, k := range r.keys {
		pace := ringPace / (1 + max(float64(len(k.steps)-2), 0)/3)
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

func (r *rings) step(key, what string) {
	switch what {
	case "queued":
		r.then(key, func(s *ringState) bool {
			s.dirty, s.waiting, s.ready, s.merged = true, false, !s.processing, 0
			return true
		})
	case "merged":
		r.then(key, func(s *ringState) bool { s.dirty, s.ready = true, !s.processing; s.merged++; return true })
	case "taken":
		r.then(key, func(s *ringState) bool { s.dirty, s.ready, s.processing, s.merged = false, false, true, 0; return true })
	case "retried":
		r.then(key, func(s *ringState) bool { s.waiting = true; return true })
	case "done":
		r.then(key, func(s *ringState) bool { s.processing, s.ready = false, s.dirty; return s.dirty || s.waiting })
	}
}

func (r *rings) then(key string, step func(*ringState) bool) {
	k := r.keys[key]
	if k == nil {
		if len(r.keys) >= mostRings {
			return
		}
		k = &ringed{since: -ringPace}
		r.keys[key] = k
	}
	if len(k.steps) < mostSteps {
		k.steps = append(k.steps, step)
	}
}

func (r *rings) lines(width, height int) []line {
	all := wrapped(soft, r.totals, width)
	between := []line{text(soft, "│")}
	wide := max((width-3)/4, 8)
	widths := []int{wide, wide, wide, max(width-3-3*wide, 8)}
	blocks := make([][]line, len(regions))
	room := max(height-len(all)-2, 2)
	where := make([][]string, len(regions))
	for _, key := range slices.Sorted(maps.Keys(r.keys)) {
		if at := r.keys[key].state.region(); at >= 0 {
			where[at] = append(where[at], key)
		}
	}
	for at, region := range regions {
		blocks[at] = []line{text(strong, region.title), text(soft, region.text)}
		for n, key := range where[at] {
			if n == room-1 && n < len(where[at])-1 {
				blocks[at] = append(blocks[at], text(soft, fmt.Sprintf("and %d more", len(where[at])-n)))
				break
			}
			name := key
			times := ""
			if m := r.keys[key].state.merged; m > 0 {
				times = fmt.Sprintf(" ×%d", m+1)
			}
			blocks[at] = append(blocks[at], joined(line{{"(", soft}}, text(kindKey, short(name, widths[at]-2-cells(times))), text(accent, times), line{{")", soft}}))
		}
	}
	return append(all, beside(blocks, widths, between)...)
}
