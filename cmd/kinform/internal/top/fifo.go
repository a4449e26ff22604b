package top

import (
	"cmp"
	"fmt"
	"slices"
)

// fifoPicture draws the DeltaFIFO: a tray of deltas for each object.
type fifoPicture struct {
	objects     map[string]*objectDeltas
	deletedKeys map[string]float64 // keys with a DELETED event: their delete is not a tombstone
	totals      string
	now         float64
}

type objectDeltas struct {
	added, taken float64 // taken is the time when the informer took it, or 0 while it waits
	shownBefore  bool    // The previous frame showed it in the same form.
	deltas       []delta
	merged       int
}

type delta struct {
	kind, version           string
	tombstone, deduplicated bool
}

const maxFIFOObjects = 40

// visibleFor returns for how many milliseconds a tray stays visible after the informer has taken
// it. A tray with a tombstone stays longer, because it is rare and takes time to read.
func (t *objectDeltas) visibleFor() float64 {
	if slices.ContainsFunc(t.deltas, func(d delta) bool { return d.tombstone }) {
		return 12_000
	}
	return 1_600
}

func newFIFOPicture() *fifoPicture {
	return &fifoPicture{objects: map[string]*objectDeltas{}, deletedKeys: map[string]float64{}}
}

func (f *fifoPicture) frame(s *frameData) {
	if s.boxes["fifo"] != nil {
		f.totals = fmt.Sprintf("Now: %s trays with %s deltas. In all, %s deltas were queued and %s batches taken; %s deltas were merged on the shelf.",
			s.formatted("fifo", "keys"), s.formatted("fifo", "deltas"), s.formatted("fifo", "queued"), s.formatted("fifo", "batches"), s.formatted("fifo", "merged"))
	}
	f.now = s.frame.At
	for _, e := range s.frame.Events {
		switch {
		case e.What == "received" && e.Kind == "DELETED":
			if len(f.deletedKeys) < 1000 {
				f.deletedKeys[e.Key] = f.now
			}
		case e.What == "delta":
			f.add(e.Key, e.Kind, e.Version)
		case e.What == "batch":
			for _, t := range f.objects {
				t.markTaken(f.now)
			}
		}
	}
	// A batch that the informer is working on has left the queue, although its end has not been
	// reported yet. The numbers of a frame are slightly older than its events. So a tray must have
	// existed for two frames.
	for _, t := range f.objects {
		if t.shownBefore && s.boxes["fifo"] != nil && s.number("fifo", "keys") == 0 {
			t.markTaken(f.now)
		}
		t.shownBefore = true
	}
	for key, at := range f.deletedKeys {
		if f.now-at > 5000 {
			delete(f.deletedKeys, key)
		}
	}
	for key, t := range f.objects {
		if t.taken > 0 && f.now-t.taken > t.visibleFor() {
			delete(f.objects, key)
		}
	}
}

// markTaken marks a tray as taken by the informer. If the tray is new, it is shown as waiting for a
// moment first.
func (t *objectDeltas) markTaken(now float64) {
	if t.taken == 0 {
		t.taken = max(now, t.added+500)
	}
}

func (f *fifoPicture) add(key, kind, version string) {
	t := f.objects[key]
	if t != nil && t.taken > 0 && f.now > t.taken {
		t = nil
	}
	if t == nil {
		if len(f.objects) >= maxFIFOObjects && f.objects[key] == nil && !f.makeRoom() {
			return
		}
		t = &objectDeltas{added: f.now}
		f.objects[key] = t
	}
	t.taken, t.shownBefore = 0, false
	if n := len(t.deltas); n > 0 && kind == "Deleted" && t.deltas[n-1].kind == "Deleted" {
		t.deltas[n-1].deduplicated = true
		return
	}
	if len(t.deltas) >= 5 {
		t.merged++
		t.deltas = slices.Delete(t.deltas, 1, 2)
	}
	_, seen := f.deletedKeys[key]
	t.deltas = append(t.deltas, delta{kind: kind, version: version, tombstone: kind == "Deleted" && !seen})
}

// makeRoom drops an empty tray, and reports whether there was one.
func (f *fifoPicture) makeRoom() bool {
	for key, t := range f.objects {
		if t.taken > 0 && f.now > t.taken {
			delete(f.objects, key)
			return true
		}
	}
	return false
}

func (f *fifoPicture) lines(width, height int) []line {
	all := wrapped(muted, f.totals, width)
	if len(f.objects) == 0 {
		return append(all, text(muted, "The shelf is empty: the informer takes each change as soon as it arrives."))
	}
	keys := make([]string, 0, len(f.objects))
	for key := range f.objects {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		x, y := f.objects[a], f.objects[b]
		// Waiting trays come first. Among the others, the newest comes first.
		return cmp.Or(cmp.Compare(min(x.taken, 1), min(y.taken, 1)), cmp.Compare(y.added, x.added), cmp.Compare(a, b))
	})
	name := min(26, width/3)
	for n, key := range keys {
		if len(all) >= height-1 && n < len(keys)-1 {
			return append(all, text(muted, fmt.Sprintf("and %d more", len(keys)-n)))
		}
		t := f.objects[key]
		how, state := plain, "waits"
		switch {
		case t.taken > 0 && f.now > t.taken:
			how, state = muted, "taken by the informer"
		case t.merged > 0:
			state = fmt.Sprintf("%d merged", t.merged)
		}
		l := joined(text(how, shorten(key, name)).fit(name), text(muted, " │"))
		for _, d := range t.deltas {
			k := kindOf(d.kind)
			said := d.kind
			switch {
			case d.tombstone:
				said = "tombstone: final state unknown"
			case d.deduplicated:
				said += " ×2"
			}
			l = append(l, span{" " + k.letter + said, k.style}, span{" " + d.version + " │", muted})
		}
		all = append(all, joined(l, text(muted, " "+state)).fit(width))
	}
	return all
}
