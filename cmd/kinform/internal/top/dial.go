package top

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// dial has a clock for each failing key, which runs down until the key is added again.
type dial struct{ waits map[string]*wait }

type wait struct {
	whole, left float64 // in seconds
	from        float64 // in milliseconds
	tries       int
	state       string
}

const mostWaits = 200

func newDial() *dial { return &dial{waits: map[string]*wait{}} }

func (d *dial) frame(s *seen) {
	now := s.frame.At
	for _, e := range s.frame.Events {
		if e.What == "retried" && e.Of == s.queue {
			d.note(e.Key, &wait{whole: e.Wait, left: e.Wait, from: now, state: "waits"})
		}
	}
	there := map[string]bool{}
	for _, k := range s.keys().List {
		if k.Retries == 0 && k.In == 0 {
			continue
		}
		there[k.Key] = true
		w := d.waits[k.Key]
		if w == nil {
			w = &wait{whole: k.In, from: now}
			d.note(k.Key, w)
		}
		w.tries, w.left, w.whole = k.Retries, k.In, max(w.whole, k.In)
		switch {
		case k.Processing:
			w.state = "a worker has it"
		case k.In > 0:
			w.state = "comes back in " + seconds(k.In)
		default:
			w.state = "in the queue"
		}
	}
	for key, w := range d.waits {
		switch {
		case there[key]:
		case now-w.from > w.whole*1000+1500:
			delete(d.waits, key)
		default:
			w.left = max(w.whole-(now-w.from)/1000, 0)
		}
	}
}

func (d *dial) note(key string, w *wait) {
	if len(d.waits) < mostWaits || d.waits[key] != nil {
		if before := d.waits[key]; before != nil {
			w.tries = before.tries
		}
		d.waits[key] = w
	}
}

func (d *dial) lines(width, height int) []line {
	if len(d.waits) == 0 {
		return []line{text(soft, "No key waits for another attempt.")}
	}
	keys := slices.SortedFunc(maps.Keys(d.waits), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.waits[b].tries, d.waits[a].tries), cmp.Compare(a, b))
	})
	var all []line
	name, clock := min(28, width/3), min(20, width/5)
	for n, key := range keys {
		if len(all) == height-1 && n < len(keys)-1 {
			return append(all, text(soft, fmt.Sprintf("and %d more", len(keys)-n)))
		}
		w := d.waits[key]
		part := 0.0
		if w.whole > 0 {
			part = w.left / w.whole
		}
		all = append(all, joined(text(plain, short(key, name)).fit(name+1), text(kindModified, bar(part, clock)), text(plain, " of "+seconds(w.whole)).fit(11),
			text(soft, fmt.Sprintf(" %d failures in a row; %s", w.tries, w.state))).fit(width))
	}
	return all
}
