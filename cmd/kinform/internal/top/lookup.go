package top

import (
	"context"
	"fmt"

	"github.com/kinform/kinform/view"
)

// lookupPicture compares an index look-up with a scan of all objects. The program measures both on
// its own store.
type lookupPicture struct {
	screen    *screen
	of        string
	recorded  bool
	requested bool
	response  view.Lookup
	failed    string
	selected  int // index of the selected value
}

// lookupResult is the program's response.
type lookupResult struct {
	of       *lookupPicture
	response view.Lookup
	err      error
}

func (l *lookupPicture) frame(s *frameData) { l.of = s.hello.Name }

func (l *lookupPicture) opened() {
	if l.recorded = l.screen.player != nil; !l.recorded && !l.requested {
		l.request("", "", false)
	}
}

func (l *lookupPicture) request(index, value string, lookUp bool) {
	l.requested = true
	of, page := l.of, l.screen.page
	l.screen.start(func(ctx context.Context) any {
		response, err := page.lookup(ctx, of, index, value, lookUp)
		return lookupResult{l, response, err}
	})
}

func (l *lookupPicture) handleResult(a lookupResult) {
	if a.err != nil {
		l.failed, l.requested = safe(a.err.Error()), false
		return
	}
	l.failed, l.response = "", a.response
}

// values returns the values of all indexes in display order.
func (l *lookupPicture) values() (all []indexValue) {
	for _, i := range l.response.Indexes {
		for _, v := range i.Top {
			all = append(all, indexValue{i.Name, v})
		}
	}
	return all
}

type indexValue struct {
	index string
	view.IndexValue
}

func (l *lookupPicture) key(name string) bool {
	all := l.values()
	switch name {
	case "up", "left":
		l.selected--
	case "down", "right":
		l.selected++
	case "enter":
		if len(all) > 0 && l.selected < len(all) {
			l.request(all[l.selected].index, all[l.selected].Value, true)
		} else {
			l.request("", "", false)
		}
		return true
	default:
		return false
	}
	l.selected = min(max(l.selected, 0), max(len(all)-1, 0))
	return true
}

func (l *lookupPicture) lines(width, height int) []line {
	switch {
	case l.recorded:
		return []line{text(muted, "A recording has no store, so nothing can be looked up.")}
	case l.failed != "":
		return wrapped(bad, l.failed, width)
	case !l.requested:
		return []line{text(muted, "Enter shows the indexes of the store.")}
	case len(l.response.Indexes) == 0:
		return []line{text(muted, "This store has no index except the index of namespaces.")}
	}
	var all []line
	n := 0
	for _, i := range l.response.Indexes {
		row := joined(text(strong, safe(i.Name)), text(muted, " "+plural(i.Values, "value")+" "))
		for _, v := range i.Top {
			how := plain
			if n == l.selected {
				how = selected
			}
			shown := safe(v.Value)
			if shown == "" {
				shown = "(empty)"
			}
			value := joined(text(how, clip(shown, 40)), text(muted, " "+formatInt(v.Objects)+"  "))
			if row.width()+value.width() > width {
				all, row = append(all, row), text(plain, "  ")
			}
			row = joined(row, value)
			n++
		}
		all = append(all, row)
	}
	f := l.response.Result
	if f == nil {
		return append(all, text(muted, "← → choose a value, Enter looks it up"))
	}
	times := f.Scan / max(f.Lookup, 1e-9)
	all = append(all, wrapped(plain, fmt.Sprintf("Look-up: %s objects in %s. A scan of all %s: %s, %s times as long.", formatInt(f.Objects), seconds(f.Lookup), formatInt(f.All), seconds(f.Scan), formatRounded(times)), width)...)
	longest := max(f.Scan, f.Lookup, 1e-9)
	room := max(width-20, 10)
	all = append(all, joined(text(muted, "look-up").fit(10), text(good, bar(f.Lookup/longest, room))), joined(text(muted, "scan").fit(10), text(kindModified, bar(f.Scan/longest, room))))
	keys := ""
	for _, k := range f.Keys {
		keys += safe(k) + "  "
	}
	return append(all, wrapped(muted, keys, width)...)
}
