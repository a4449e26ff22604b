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
	pipelines []view.Pipeline // in display order
	rates     map[string]float64
	previous  map[string]eventsAt
	title     string
	failed    string
	requested bool
	selected  int
}

// eventsAt is the number of events of a pipeline at one time.
type eventsAt struct {
	events uint64
	at     time.Time
}

// indexResult is the page's response to a request for the index.
type indexResult struct {
	pipelines view.Pipelines
	err       error
}

func pipelineID(p view.Pipeline) string { return p.Kind + " " + p.Name }

// update stores the index. The selected pipeline stays selected.
func (x *index) update(all view.Pipelines, now time.Time) {
	chosen := ""
	if x.selected < len(x.pipelines) {
		chosen = pipelineID(x.pipelines[x.selected])
	}
	x.failed, x.title = "", all.Title
	before := x.previous
	x.previous, x.rates = map[string]eventsAt{}, map[string]float64{}
	for _, p := range all.Pipelines {
		name := pipelineID(p)
		if b, ok := before[name]; ok && now.After(b.at) && p.Events >= b.events {
			x.rates[name] = float64(p.Events-b.events) / now.Sub(b.at).Seconds()
		}
		x.previous[name] = eventsAt{p.Events, now}
	}
	x.pipelines = slices.Clone(all.Pipelines)
	slices.SortStableFunc(x.pipelines, func(a, b view.Pipeline) int {
		return min(len(b.Problems), 1) - min(len(a.Problems), 1)
	})
	x.selected = max(slices.IndexFunc(x.pipelines, func(p view.Pipeline) bool { return pipelineID(p) == chosen }), 0)
}

// requestIndex requests the index, unless a request is in progress.
func (s *screen) requestIndex() {
	if s.index.requested {
		return
	}
	s.index.requested = true
	page := s.page
	s.start(func(ctx context.Context) any {
		parts, err := fetchPipelines(ctx, page)
		return indexResult{parts, err}
	})
}

func (s *screen) indexKey(name string) bool {
	x := &s.index
	switch name {
	case "up":
		x.selected--
	case "down":
		x.selected++
	case "pgup":
		x.selected -= s.height - 6
	case "pgdown":
		x.selected += s.height - 6
	case "home":
		x.selected = 0
	case "end":
		x.selected = len(x.pipelines) - 1
	case "enter":
		if x.selected < len(x.pipelines) {
			s.choose(x.pipelines[x.selected].Name)
		}
	default:
		return false
	}
	x.selected = min(max(x.selected, 0), max(len(x.pipelines)-1, 0))
	return true
}

func (s *screen) indexLines(width, height int) []line {
	x := &s.index
	all := []line{joined(text(strong, "All pipelines"), text(muted, "   ↑ ↓ choose, Enter shows one"))}
	if x.failed != "" {
		all = append(all, wrapped(bad, "✗ "+x.failed, width)...)
	}
	name, state, wide := max(min(width/4, 40), 16), 12, 10
	if width < 110 {
		name, state, wide = max(width/5, 12), 10, 8
	}
	head := joined(line(nil).fit(8), text(muted, "Name").fit(name+1), text(muted, "What").fit(9), text(muted, "State").fit(state),
		text(muted, "Objects").padLeft(wide), text(muted, "Events").padLeft(wide), text(muted, "Waiting").padLeft(wide), text(muted, "  What is wrong"))
	all = append(all, head)
	var full []line // problems of the selected pipeline
	if x.selected < len(x.pipelines) && len(x.pipelines[x.selected].Problems) > 0 {
		full = wrapped(bad, "✗ "+strings.Join(x.pipelines[x.selected].Problems, "; "), width)
		full = full[:min(len(full), height/3)]
	}
	room := max(height-len(all)-len(full), 1)
	from := min(max(x.selected-room/2, 0), max(len(x.pipelines)-room, 0))
	for n := from; n < min(from+room, len(x.pipelines)); n++ {
		p := x.pipelines[n]
		fine := text(good, "✓ fine")
		if len(p.Problems) > 0 {
			fine = text(bad, "✗ wrong")
		}
		how := plain
		if n == x.selected {
			how = selected
		}
		perSecond := unknown
		if r, ok := x.rates[pipelineID(p)]; ok {
			perSecond = rate(r)
		}
		all = append(all, joined(fine.fit(8), text(how, shorten(p.Name, name)).fit(name+1), text(muted, p.Kind).fit(9), text(accent, p.State).fit(state),
			text(plain, formatInt(p.Objects)).padLeft(wide), text(plain, perSecond).padLeft(wide), text(plain, formatInt(p.Waiting)).padLeft(wide), text(bad, "  "+strings.Join(p.Problems, "; "))))
	}
	return append(all, full...)
}
