package top

import (
	"context"
	"fmt"

	"github.com/kinform/kinform/view"
)

// lookup compares an index look-up with a scan of all objects. The program measures both on its own
// store.
type lookup struct {
	screen   *screen
	of       string
	recorded bool
	asked    bool
	answer   view.Lookup
	failed   string
	at       int // index of the selected value
}

// lookedUp is the program's response.
type lookedUp struct {
	of     *lookup
	answer view.Lookup
	err    error
}

func (l *lookup) frame(s *seen) { l.of = s.hello.Name }

func (l *lookup) opened() {
	if l.recorded = l.screen.player != nil; !l.recorded && !l.asked {
		l.ask("", "", false)
	}
}

func (l *lookup) ask(index, value string, found bool) {
	l.asked = true
	of, page := l.of, l.screen.page
	l.screen.start(func(ctx context.Context) any {
		answer, err := page.lookup(ctx, of, index, value, found)
		return lookedUp{l, answer, err}
	})
}

func (l *lookup) take(a lookedUp) {
	if a.err != nil {
		l.failed, l.asked = safe(a.err.Error()), false
		return
	}
	l.failed, l.answer = "", a.answer
}

// values returns the values of all indexes in display order.
func (l *lookup) values() (all []indexed) {
	for _, i := range l.answer.Indexes {
		for _, v := range i.Some {
			all = append(all, indexed{i.Name, v})
		}
	}
	return all
}

type indexed struct {
	index string
	view.IndexValue
}

func (l *lookup) key(name string) bool {
	all := l.values()
	switch name {
	case "up", "left":
		l.at--
	case "down", "right":
		l.at++
	case "enter":
		if len(all) > 0 && l.at < len(all) {
			l.ask(all[l.at].index, all[l.at].Value, true)
		} else {
			l.ask("", "", false)
		}
		return true
	default:
		return false
	}
	l.at = min(max(l.at, 0), max(len(all)-1, 0))
	return true
}

func (l *lookup) lines(width, height int) []line {
	switch {
	case l.recorded:
		return []line{text(soft, "A recording has no store, so nothing can be looked up.")}
	case l.failed != "":
		return wrapped(bad, l.failed, width)
	case !l.asked:
		return []line{text(soft, "Enter shows the indexes of the store.")}
	case len(l.answer.Indexes) == 0:
		return []line{text(soft, "This store has no index except the index of namespaces.")}
	}
	var all []line
	n := 0
	for _, i := range l.answer.Indexes {
		row := joined(text(strong, safe(i.Name)), text(soft, " "+plural(i.Values, "value")+" "))
		for _, v := range i.Some {
			how := plain
			if n == l.at {
				how = marked
			}
			shown := safe(v.Value)
			if shown == "" {
				shown = "(empty)"
			}
			value := joined(text(how, clip(shown, 40)), text(soft, " "+counted(v.Objects)+"  "))
			if row.width()+value.width() > width {
				all, row = append(all, row), text(plain, "  ")
			}
			row = joined(row, value)
			n++
		}
		all = append(all, row)
	}
	f := l.answer.Found
	if f == nil {
		return append(all, text(soft, "← → choose a value, Enter looks it up"))
	}
	times := f.Scan / max(f.Lookup, 1e-9)
	all = append(all, wrapped(plain, fmt.Sprintf("Look-up: %s objects in %s. A scan of all %s: %s, %s times as long.", counted(f.Objects), seconds(f.Lookup), counted(f.All), seconds(f.Scan), rounded(times)), width)...)
	longest := max(f.Scan, f.Lookup, 1e-9)
	room := max(width-20, 10)
	all = append(all, joined(text(soft, "look-up").fit(10), text(good, bar(f.Lookup/longest, room))), joined(text(soft, "scan").fit(10), text(kindModified, bar(f.Scan/longest, room))))
	keys := ""
	for _, k := range f.Keys {
		keys += safe(k) + "  "
	}
	return append(all, wrapped(soft, keys, width)...)
}
