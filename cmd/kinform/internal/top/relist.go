package top

import (
	"fmt"
	"slices"
	"strings"
)

// relist shows what a relist has changed: the old set, the new set, and the differences.
type relist struct {
	now  *aList
	open bool
}

type aList struct {
	began, took float64 // in milliseconds
	objects     int
	why         string
	how         map[string]string // what the list has found, by key
}

// findings are the possible results for an object, in the order of importance. The most important
// result is the last.
var findings = []struct {
	id   string
	kind kind
	text string
}{
	{"unchanged", unchanged, "unchanged, not decoded"}, {"decoded", listed, "decoded"}, {"changed", modified, "changed"}, {"fresh", added, "new"},
	{"missing", deleted, "missing: deleted while nobody watched"},
}

const mostFindings = 400

func (r *relist) frame(s *seen) {
	for n := range s.frame.Events {
		e := &s.frame.Events[n]
		at := s.at(e)
		switch e.What {
		case "phase":
			if e.Kind == "listing" || e.Kind == "streaming" {
				if !r.open {
					r.now = &aList{began: at, why: e.Text, how: map[string]string{}}
				}
				r.open = true
			} else if r.open && e.Kind != "backing off" {
				r.open = false
				r.now.took = at - r.now.began
			}
		case "page":
			if r.now != nil {
				r.now.objects += e.Count
			}
		case "item":
			r.note(e.Key, e.Kind)
		case "delivered":
			if e.Cause == "relist" || e.Cause == "initial" {
				r.note(e.Key, map[string]string{"Added": "fresh", "Updated": "changed", "Deleted": "missing"}[e.Kind])
			}
		}
	}
}

func (r *relist) note(key, how string) {
	if r.now == nil || how == "" {
		return
	}
	before, known := r.now.how[key]
	if !known && len(r.now.how) >= mostFindings || how == "decoded" && before != "" {
		return
	}
	r.now.how[key] = how
}

func (r *relist) lines(width, height int) []line {
	if r.now == nil {
		return wrapped(soft, "There was no list since this view was opened. A dropped watch alone needs no list: the reflector starts a new watch at its version.", width)
	}
	said := "The last list: " + plural(r.now.objects, "object")
	if r.now.took > 0 {
		said += " in " + seconds(r.now.took/1000)
	}
	if r.now.why != "" {
		said += ", because: " + r.now.why
	}
	all := wrapped(plain, fmt.Sprintf("%s. Of the %s objects in the sample:", said, counted(len(r.now.how))), width)
	of := map[string][]string{}
	for key, how := range r.now.how {
		of[how] = append(of[how], key)
	}
	var cells line
	for _, f := range slices.Backward(findings) {
		keys := of[f.id]
		slices.Sort(keys)
		found := joined(line{f.kind.mark()}, text(plain, fmt.Sprintf(" %5s %s", counted(len(keys)), f.text)))
		if len(keys) > 0 && f.id != "unchanged" && f.id != "decoded" {
			found = joined(found, text(soft, ": "+strings.Join(keys[:min(len(keys), 20)], " ")))
		}
		all = append(all, found.fit(width))
		cells = append(cells, span{strings.Repeat(f.kind.letter, len(keys)), f.kind.style})
	}
	for len(cells) > 0 && len(all) < height {
		row, rest := split(cells, width)
		all, cells = append(all, row), rest
	}
	return all
}

// split splits a line in which each character is one cell wide.
func split(l line, width int) (row, rest line) {
	for n, s := range l {
		if len(s.text) > width {
			return append(row, span{s.text[:width], s.style}), append(line{{s.text[width:], s.style}}, l[n+1:]...)
		}
		row = append(row, s)
		width -= len(s.text)
	}
	return row, nil
}
