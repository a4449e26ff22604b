package top

import (
	"cmp"
	"fmt"
	"slices"
)

// shelf draws the DeltaFIFO: a tray of deltas for each object.
type shelf struct {
	trays   map[string]*tray
	deleted map[string]float64 // keys with a DELETED event: their delete is not a tombstone
	totals  string
	now     float64
}

type tray struct {
	began, taken float64 // taken is the time when the informer took it, or 0 while it waits
	before       bool    // The previous frame showed it in the same form.
	deltas       []delta
	merged       int
}

type delta struct {
	kind, version       string
	tombstone, squashed bool
}

const mostTrays = 40

// stays returns for how many milliseconds a tray stays visible after the informer has taken it. A
// tray with a tombstone stays longer, because it is rare and takes time to read.
func (t *tray) stays() float64 {
	if slices.ContainsFunc(t.deltas, func(d delta) bool { return d.tombstone }) {
		return 12_000
	}
	return 1_600
}

func newShelf() *shelf { return &shelf{trays: map[string]*tray{}, deleted: map[string]float64{}} }

func (f *shelf) frame(s *seen) {
	if s.boxes["fifo"] != nil {
		f.totals = fmt.Sprintf("Now: %s trays with %s deltas. In all, %s deltas were queued and %s batches taken; %s deltas were merged on the shelf.",
			s.counted("fifo", "keys"), s.counted("fifo", "deltas"), s.counted("fifo", "queued"), s.counted("fifo", "batches"), s.counted("fifo", "merged"))
	}
	f.now = s.frame.At
	for _, e := range s.frame.Events {
		switch {
		case e.What == "received" && e.Kind == "DELETED":
			if len(f.deleted) < 1000 {
				f.deleted[e.Key] = f.now
			}
		case e.What == "delta":
			f.add(e.Key, e.Kind, e.Version)
		case e.What == "batch":
			for _, t := range f.trays {
				t.take(f.now)
			}
		}
	}
	// A batch that the informer is working on has left the queue, although its end has not been
	// reported yet. The numbers of a frame are slightly older than its events. So a tray must have
	// existed for two frames.
	for _, t := range f.trays {
		if t.before && s.boxes["fifo"] != nil && s.number("fifo", "keys") == 0 {
			t.take(f.now)
		}
		t.before = true
	}
	for key, at := range f.deleted {
		if f.now-at > 5000 {
			delete(f.deleted, key)
		}
	}
	for key, t := range f.trays {
		if t.taken > 0 && f.now-t.taken > t.stays() {
			delete(f.trays, key)
		}
	}
}

// take marks a tray as taken by the informer. If the tray is new, it is shown as waiting for a
// moment first.
func (t *tray) take(now float64) {
	if t.taken == 0 {
		t.taken = max(now, t.began+500)
	}
}

func (f *shelf) add(key, kind, version string) {
	t := f.trays[key]
	if t != nil && t.taken > 0 && f.now > t.taken {
		t = nil
	}
	if t == nil {
		if len(f.trays) >= mostTrays && f.trays[key] == nil && !f.makeRoom() {
			return
		}
		t = &tray{began: f.now}
		f.trays[key] = t
	}
	t.taken, t.before = 0, false
	if n := len(t.deltas); n > 0 && kind == "Deleted" && t.deltas[n-1].kind == "Deleted" {
		t.deltas[n-1].squashed = true
		return
	}
	if len(t.deltas) >= 5 {
		t.merged++
		t.deltas = slices.Delete(t.deltas, 1, 2)
	}
	_, seen := f.deleted[key]
	t.deltas = append(t.deltas, delta{kind: kind, version: version, tombstone: kind == "Deleted" && !seen})
}

// makeRoom drops an empty tray, and reports whether there was one.
func (f *shelf) makeRoom() bool {
	for key, t := range f.trays {
		if t.taken > 0 && f.now > t.taken {
			delete(f.trays, key)
			return true
		}
	}
	return false
}

func (f *shelf) lines(width, height int) []line {
	all := wrapped(soft, f.totals, width)
	if len(f.trays) == 0 {
		return append(all, text(soft, "The shelf is empty: the informer takes each change as soon as it arrives."))
	}
	keys := make([]string, 0, len(f.trays))
	for key := range f.trays {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		x, y := f.trays[a], f.trays[b]
		// Waiting trays come first. Among the others, the newest comes first.
		return cmp.Or(cmp.Compare(min(x.taken, 1), min(y.taken, 1)), cmp.Compare(y.began, x.began), cmp.Compare(a, b))
	})
	name := min(26, width/3)
	for n, key := range keys {
		if len(all) >= height-1 && n < len(keys)-1 {
			return append(all, text(soft, fmt.Sprintf("and %d more", len(keys)-n)))
		}
		t := f.trays[key]
		how, state := plain, "waits"
		switch {
		case t.taken > 0 && f.now > t.taken:
			how, state = soft, "taken by the informer"
		case t.merged > 0:
			state = fmt.Sprintf("%d merged", t.merged)
		}
		l := joined(text(how, short(key, name)).fit(name), text(soft, " │"))
		for _, d := range t.deltas {
			k := kindOf(d.kind)
			said := d.kind
			switch {
			case d.tombstone:
				said = "tombstone: final state unknown"
			case d.squashed:
				said += " ×2"
			}
			l = append(l, span{" " + k.letter + said, k.style}, span{" " + d.version + " │", soft})
		}
		all = append(all, joined(l, text(soft, " "+state)).fit(width))
	}
	return all
}
