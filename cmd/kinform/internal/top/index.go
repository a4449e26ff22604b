package top

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kinform/kinform/view"
)

// index lists the pipelines of a program, with problems on top.
type index struct {
	parts  []view.Part // in display order
	rates  map[string]float64
	before map[string]eventsAt
	title  string
	failed string
	asked  bool
	at     int
}

// eventsAt is the number of events of a pipeline at one time.
type eventsAt struct {
	events uint64
	at     time.Time
}

// indexAnswer is the page's response to a request for the index.
type indexAnswer struct {
	parts view.Parts
	err   error
}

func nameOfPart(p view.Part) string { return p.Kind + " " + p.Name }

// take stores the index. The selected pipeline stays selected.
func (x *index) take(all view.Parts, now time.Time) {
	chosen := ""
	if x.at < len(x.parts) {
		chosen = nameOfPart(x.parts[x.at])
	}
	x.failed, x.title = "", all.Title
	before := x.before
	x.before, x.rates = map[string]eventsAt{}, map[string]float64{}
	for _, p := range all.Parts {
		name := nameOfPart(p)
		if b, ok := before[name]; ok && now.After(b.at) && p.Events >= b.events {
			x.rates[name] = float64(p.Events-b.events) / now.Sub(b.at).Seconds()
		}
		x.before[name] = eventsAt{p.Events, now}
	}
	x.parts = slices.Clone(all.Parts)
	slices.SortStableFunc(x.parts, func(a, b view.Part) int {
		return min(len(b.Wrong), 1) - min(len(a.Wrong), 1)
	})
	x.at = max(slices.IndexFunc(x.parts, func(p view.Part) bool { return nameOfPart(p) == chosen }), 0)
}

// askIndex requests the index, unless a request is in progress.
func (s *screen) askIndex() {
	if s.index.asked {
		return
	}
	s.index.asked = true
	page := s.page
	s.start(func(ctx context.Context) any {
		parts, err := reach(ctx, page)
		return indexAnswer{parts, err}
	})
}

func (s *screen) indexKey(name string) bool {
	x := &s.index
	switch name {
	case "up":
		x.at--
	case "down":
		x.at++
	case "pgup":
		x.at -= s.height - 6
	case "pgdown":
		x.at += s.height - 6
	case "home":
		x.at = 0
	case "end":
		x.at = len(x.parts) - 1
	case "enter":
		if x.at < len(x.parts) {
			s.choose(x.parts[x.at].Name)
		}
	default:
		return false
	}
	x.at = min(max(x.at, 0), max(len(x.parts)-1, 0))
	return true
}

func (s *screen) indexLines(width, height int) []line {
	x := &s.index
	all := []line{joined(text(strong, "All pipelines"), text(soft, "   ↑ ↓ choose, Enter shows one"))}
	if x.failed != "" {
		all = append(all, wrapped(bad, "✗ "+x.failed, width)...)
	}
	name, state, wide := max(min(width/4, 40), 16), 12, 10
	if width < 110 {
		name, state, wide = max(width/5, 12), 10, 8
	}
	head := joined(line(nil).fit(8), text(soft, "Name").fit(name+1), text(soft, "What").fit(9), text(soft, "State").fit(state),
		text(soft, "Objects").right(wide), text(soft, "Events").right(wide), text(soft, "Waiting").right(wide), text(soft, "  What is wrong"))
	all = append(all, head)
	var full []line // problems of the selected pipeline
	if x.at < len(x.parts) && len(x.parts[x.at].Wrong) > 0 {
		full = wrapped(bad, "✗ "+strings.Join(x.parts[x.at].Wrong, "; "), width)
		full = full[:min(len(full), height/3)]
	}
	room := max(height-len(all)-len(full), 1)
	from := min(max(x.at-room/2, 0), max(len(x.parts)-room, 0))
	for n := from; n < min(from+room, len(x.parts)); n++ {
		p := x.parts[n]
		fine := text(good, "✓ fine")
		if len(p.Wrong) > 0 {
			fine = text(bad, "✗ wrong")
		}
		how := plain
		if n == x.at {
			how = marked
		}
		perSecond := unknown
		if r, ok := x.rates[nameOfPart(p)]; ok {
			perSecond = rate(r)
		}
		all = append(all, joined(fine.fit(8), text(how, short(p.Name, name)).fit(name+1), text(soft, p.Kind).fit(9), text(accent, p.State).fit(state),
			text(plain, counted(p.Objects)).right(wide), text(plain, perSecond).right(wide), text(plain, counted(p.Waiting)).right(wide), text(bad, "  "+strings.Join(p.Wrong, "; "))))
	}
	return append(all, full...)
}
