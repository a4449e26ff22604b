package top

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// backoffPicture has a clock for each failing key, which runs down until the key is added again.
type backoffPicture struct{ keys map[string]*keyBackoff }

type keyBackoff struct {
	total, left float64 // in seconds
	from        float64 // in milliseconds
	tries       int
	state       string
}

const maxBackoffs = 200

func newBackoffPicture() *backoffPicture { return &backoffPicture{keys: map[string]*keyBackoff{}} }

func (d *backoffPicture) frame(s *frameData) {
	now := s.frame.At
	for _, e := range s.frame.Events {
		if e.What == "retried" && e.Component == s.queue {
			d.note(e.Key, &keyBackoff{total: e.Wait, left: e.Wait, from: now, state: "waits"})
		}
	}
	there := map[string]bool{}
	for _, k := range s.keys().List {
		if k.Retries == 0 && k.DueIn == 0 {
			continue
		}
		there[k.Key] = true
		w := d.keys[k.Key]
		if w == nil {
			w = &keyBackoff{total: k.DueIn, from: now}
			d.note(k.Key, w)
		}
		w.tries, w.left, w.total = k.Retries, k.DueIn, max(w.total, k.DueIn)
		switch {
		case k.Processing:
			w.state = "a worker has it"
		case k.DueIn > 0:
			w.state = "comes back in " + seconds(k.DueIn)
		default:
			w.state = "in the queue"
		}
	}
	for key, w := range d.keys {
		switch {
		case there[key]:
		case now-w.from > w.total*1000+1500:
			delete(d.keys, key)
		default:
			w.left = max(w.total-(now-w.from)/1000, 0)
		}
	}
}

func (d *backoffPicture) note(key string, w *keyBackoff) {
	if len(d.keys) < maxBackoffs || d.keys[key] != nil {
		if before := d.keys[key]; before != nil {
			w.tries = before.tries
		}
		d.keys[key] = w
	}
}

func (d *backoffPicture) lines(width, height int) []line {
	if len(d.keys) == 0 {
		return []line{text(muted, "No key waits for another attempt.")}
	}
	keys := slices.SortedFunc(maps.Keys(d.keys), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.keys[b].tries, d.keys[a].tries), cmp.Compare(a, b))
	})
	var all []line
	name, clock := min(28, width/3), min(20, width/5)
	for n, key := range keys {
		if len(all) == height-1 && n < len(keys)-1 {
			return append(all, text(muted, fmt.Sprintf("and %d more", len(keys)-n)))
		}
		w := d.keys[key]
		part := 0.0
		if w.total > 0 {
			part = w.left / w.total
		}
		all = append(all, joined(text(plain, shorten(key, name)).fit(name+1), text(kindModified, bar(part, clock)), text(plain, " of "+seconds(w.total)).fit(11),
			text(muted, fmt.Sprintf(" %d failures in a row; %s", w.tries, w.state))).fit(width))
	}
	return all
}
