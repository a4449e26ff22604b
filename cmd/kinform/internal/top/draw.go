package top

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kinform/kinform/view"
)

// This is the size of the smallest terminal that fits all seven boxes.
const (
	minWidth  = 60
	minHeight = 20
)

// draw returns the lines of the screen, exactly as many and as wide as the screen.
func (s *screen) draw() []line {
	var all []line
	if s.width < minWidth || s.height < minHeight {
		all = wrapped(plain, fmt.Sprintf("This terminal has %d by %d cells, and %d by %d are needed. q quits.", s.width, s.height, minWidth, minHeight), s.width)
	} else {
		footer := s.footer()
		room := s.height - 2 - len(footer)
		body := s.body(room)
		for len(body) < room {
			body = append(body, nil)
		}
		all = slices.Concat([]line{s.header(), s.problems()}, body[:room], footer)
	}
	for len(all) < s.height {
		all = append(all, nil)
	}
	all = all[:s.height]
	for n := range all {
		all[n] = all[n].fit(s.width)
	}
	return all
}

func (s *screen) header() line {
	title, name := s.index.title, s.name
	if s.hello != nil {
		title, name = s.hello.Title, s.hello.Name
	}
	if s.mode == indexMode {
		return joined(text(strong, title), text(plain, "  all pipelines"))
	}
	l := joined(text(strong, clip(title, 40)), text(plain, "  "+shorten(name, 40)))
	if s.shown != nil && len(s.shown.queues) > 1 {
		l = joined(l, text(muted, " queue "+shorten(s.shown.queue, 20)))
	}
	return joined(l, text(plain, "  "), s.state())
}

// problems shows the problems in one line. The index shows them in full.
func (s *screen) problems() line {
	if s.shown == nil || s.mode == indexMode {
		return nil
	}
	if s.lost != "" {
		return text(muted, "what is shown is as it was then")
	}
	if all := s.shown.frame.Problems; len(all) > 0 {
		return text(bad, "✗ "+strings.Join(all, "; "))
	}
	return text(good, "✓ nothing is wrong")
}

// maxMessageLines leaves room for the boxes on the smallest screen.
const maxMessageLines = 5

// footer returns the message, or the most important keys.
func (s *screen) footer() []line {
	if s.message != "" {
		style := accent
		if s.messageBad {
			style = bad
		}
		all := wrapped(style, s.message, s.width)
		return all[:min(len(all), maxMessageLines)]
	}
	hints := "? keys  1-7 boxes  t table  i index  m actions  Space hold  q end"
	switch s.mode {
	case actionsMode, indexMode:
		hints = "Esc back  q end"
	case tableMode, helpMode:
		hints = "↑ ↓ PgUp PgDn scroll  Esc back  q end"
	}
	return []line{leftAndRight(text(muted, hints), text(muted, s.cost()), max(s.width, 1))}
}

// cost shows the cost of the view, if there is room.
func (s *screen) cost() string {
	if s.shown == nil || s.width < 120 {
		return ""
	}
	c := s.shown.frame.Cost
	said := fmt.Sprintf("this view costs %s a frame, %.2f %% of a processor", seconds(c.Building), c.Share)
	if s.missed > 0 {
		said += "; frames missed: " + formatInt(int(s.missed))
	}
	return said
}

func (s *screen) body(height int) []line {
	switch {
	case s.mode == helpMode:
		return s.scrolled(s.help(), height)
	case s.mode == indexMode:
		return s.indexLines(s.width, height)
	case s.mode == actionsMode && s.hello != nil:
		return s.menuLines(s.width, height)
	case s.shown == nil:
		return []line{nil, text(muted, "Waiting for the first frame.")}
	case s.mode == tableMode:
		return s.table(height)
	}
	least := 7
	if height >= 29 {
		least = 12
	}
	boxes := s.boxes(s.width, height-least)
	room := height - len(boxes)
	if s.box > 0 && room < 14 {
		return s.panel(height)
	}
	return append(boxes, s.panel(room)...)
}

// panel draws the part below the boxes: a box in full, or the last events.
func (s *screen) panel(height int) []line {
	title := func(what, about string) line {
		return cutTo(joined(text(muted, "── "), text(strong, what), text(muted, about+" "+strings.Repeat("─", s.width))), s.width)
	}
	if s.box > 0 && s.box <= len(s.shown.hello.Boxes) {
		b := s.boxAt(s.box - 1)
		return append([]line{title(fmt.Sprintf("%d %s", b.n, b.info.Title), "")}, b.detail(s.width, height-1)...)
	}
	f := s.shown.frame
	sample := ""
	if f.Scale > 1 {
		sample = fmt.Sprintf(", of one object of %d", f.Scale)
	}
	if f.Lost > 0 {
		sample += fmt.Sprintf(", %d had no room", f.Lost)
	}
	return append([]line{title("the last events", sample)}, s.recent.lines(s.width, height-1)...)
}

func (s *screen) boxAt(n int) *box {
	info := s.shown.hello.Boxes[n]
	return &box{info: info, n: n + 1, data: s.shown, history: s.history, strip: s.recent.strip(info.ID, 200), selected: s.box == n+1}
}

// These are the boxes in display order: the library above, the user's program below.
var (
	libraryBoxes = []string{"server", "reflector", "fifo", "store"}
	programBoxes = []string{"workers", "queue", "handlers"}
)

// boxes draws the boxes in at most height lines.
func (s *screen) boxes(width, height int) []line {
	rows := max(height-1-2*3, 4) // without borders, states, and the line between boxes
	low := min(max(rows/2, 2), s.maxLines(programBoxes))
	high := min(max(rows-low, 2), s.maxLines(libraryBoxes))
	low = min(max(rows-high, 2), s.maxLines(programBoxes))
	wide := (width - 3) / 4
	widths := []int{wide, wide, wide, width - 3 - 3*wide}
	all := s.boxRow(libraryBoxes, widths, high+3, "→")
	lower := []int{widths[0], widths[1] + widths[2] + 1, widths[3]}
	middle := joined(text(muted, strings.Repeat("╌", widths[0]/2)), text(accent, "↑ writes"), text(muted, " library above, your program below "))
	middle = joined(middle, text(muted, strings.Repeat("╌", max(width-middle.width()-widths[3]/2-1, 0))), text(accent, "↓"), text(muted, strings.Repeat("╌", width)))
	all = append(all, cutTo(middle, width))
	return append(all, s.boxRow(programBoxes, lower, low+3, "←")...)
}

// cutTo shortens a line to a width. Unlike fit, it leaves no mark at the cut.
func cutTo(l line, width int) (all line) {
	for _, s := range l {
		shown := clip(s.text, width)
		width -= cells(shown)
		all = append(all, span{shown, s.style})
	}
	return all
}

// maxLines returns how many lines the boxes can use, besides their states.
func (s *screen) maxLines(ids []string) (n int) {
	for _, info := range s.shown.hello.Boxes {
		if !slices.Contains(ids, info.ID) {
			continue
		}
		b := box{info: info, data: s.shown, history: s.history}
		known := len(b.topNumbers(len(s.shown.hello.Numbers)))
		switch info.ID {
		case "queue":
			known = max((known+1)/2, 8)
		case "workers":
			known += 4
		default:
			known += len(b.details(30, 6))
		}
		n = max(n, known)
	}
	return max(n, 3)
}

// boxRow draws boxes side by side, with arrows in the direction of changes.
func (s *screen) boxRow(ids []string, widths []int, height int, arrow string) []line {
	blocks := make([][]line, len(ids))
	for x, id := range ids {
		n := slices.IndexFunc(s.shown.hello.Boxes, func(b view.BoxInfo) bool { return b.ID == id })
		if n >= 0 {
			blocks[x] = s.boxAt(n).draw(widths[x], height)
		}
	}
	return sideBySide(blocks, widths, []line{text(plain, " "), text(accent, arrow), text(plain, " ")})
}

// table shows all numbers, like the table of the page.
func (s *screen) table(height int) []line {
	columns := []string{"Now", "a second", "p50", "p99", "longest"}
	label := min(max(s.width-20-5*12, 16), 40)
	head := joined(text(muted, "Box").fit(20), text(muted, "Number").fit(label))
	for _, c := range columns {
		head = joined(head, text(muted, c).padLeft(12))
	}
	var all []line
	for _, info := range s.shown.hello.Boxes {
		of := s.shown.boxes[info.ID]
		begun := false
		for _, number := range s.shown.hello.Numbers {
			if number.Box != info.ID {
				continue
			}
			title := ""
			if !begun {
				title, begun = info.Title, true
			}
			l := joined(text(strong, title).fit(20), text(plain, number.Label).fit(label))
			for _, value := range columnsOf(number, of) {
				l = joined(l, text(plain, value).padLeft(12))
			}
			all = append(all, l)
		}
	}
	return append([]line{head}, s.scrolled(all, height-1)...)
}

// columnsOf returns the cells of a number in the table.
func columnsOf(number view.Number, of *view.Box) [5]string {
	now, more, _ := numberText(number, of)
	if number.Kind != "time" {
		return [5]string{now, more}
	}
	if of == nil {
		return [5]string{unknown}
	}
	t := of.Times[number.ID]
	row := [5]string{formatNumber(float64(t.Count))}
	if t.Count > 0 {
		row[2], row[3], row[4] = seconds(t.P50), seconds(t.P99), seconds(t.Max)
	}
	return row
}
