package top

import (
	"fmt"
	"slices"
	"strings"
)

// relistPicture shows what a relist has changed: the old set, the new set, and the differences.
type relistPicture struct {
	current *listRun
	open    bool
}

type listRun struct {
	began, took float64 // in milliseconds
	objects     int
	cause       string
	findings    map[string]string // what the list has found, by key
}

// relistFindings are the possible results for an object, in the order of importance. The most
// important result is the last.
var relistFindings = []struct {
	id   string
	kind eventKind
	text string
}{
	{"unchanged", unchanged, "unchanged, not decoded"}, {"decoded", listed, "decoded"}, {"changed", modified, "changed"}, {"fresh", added, "new"},
	{"missing", deleted, "missing: deleted while nobody watched"},
}

const maxFindings = 400

func (r *relistPicture) frame(s *frameData) {
	for n := range s.frame.Events {
		e := &s.frame.Events[n]
		at := s.at(e)
		switch e.What {
		case "phase":
			if e.Kind == "listing" || e.Kind == "streaming" {
				if !r.open {
					r.current = &listRun{began: at, cause: e.Text, findings: map[string]string{}}
				}
				r.open = true
			} else if r.open && e.Kind != "backing off" {
				r.open = false
				r.current.took = at - r.current.began
			}
		case "page":
			if r.current != nil {
				r.current.objects += e.Count
			}
		case "item":
			r.record(e.Key, e.Kind)
		case "delivered":
			if e.Cause == "relist" || e.Cause == "initial" {
				r.record(e.Key, map[string]string{"Added": "fresh", "Updated": "changed", "Deleted": "missing"}[e.Kind])
			}
		}
	}
}

func (r *relistPicture) record(key, how string) {
	if r.current == nil || how == "" {
		return
	}
	before, known := r.current.findings[key]
	if !known && len(r.current.findings) >= maxFindings || how == "decoded" && before != "" {
		return
	}
	r.current.findings[key] = how
}

func (r *relistPicture) lines(width, height int) []line {
	if r.current == nil {
		return wrapped(muted, "There was no list since this view was opened. A dropped watch alone needs no list: the reflector starts a new watch at its version.", width)
	}
	said := "The last list: " + plural(r.current.objects, "object")
	if r.current.took > 0 {
		said += " in " + seconds(r.current.took/1000)
	}
	if r.current.cause != "" {
		said += ", because: " + r.current.cause
	}
	all := wrapped(plain, fmt.Sprintf("%s. Of the %s objects in the sample:", said, formatInt(len(r.current.findings))), width)
	of := map[string][]string{}
	for key, how := range r.current.findings {
		of[how] = append(of[how], key)
	}
	var cells line
	for _, f := range slices.Backward(relistFindings) {
		keys := of[f.id]
		slices.Sort(keys)
		found := joined(line{f.kind.letterSpan()}, text(plain, fmt.Sprintf(" %5s %s", formatInt(len(keys)), f.text)))
		if len(keys) > 0 && f.id != "unchanged" && f.id != "decoded" {
			found = joined(found, text(muted, ": "+strings.Join(keys[:min(len(keys), 20)], " ")))
		}
		all = append(all, found.fit(width))
		cells = append(cells, span{strings.Repeat(f.kind.letter, len(keys)), f.kind.style})
	}
	for len(cells) > 0 && len(all) < height {
		row, rest := splitCells(cells, width)
		all, cells = append(all, row), rest
	}
	return all
}

// splitCells splits a line in which each character is one cell wide.
func splitCells(l line, width int) (row, rest line) {
	for n, s := range l {
		if len(s.text) > width {
			return append(row, span{s.text[:width], s.style}), append(line{{s.text[width:], s.style}}, l[n+1:]...)
		}
		row = append(row, s)
		width -= len(s.text)
	}
	return row, nil
}
