package top

import (
	"fmt"
	"math"
	"strings"

	"github.com/kinform/kinform/view"
)

// comparePicture draws the laboratory's comparison of ways to read the same list: memory over time.
type comparePicture struct {
	available bool
	shown     *view.Comparison
}

var methodTitles = map[string]string{"list": "one list", "paged": "pages of 500", "watchlist": "streaming list"}

// maxMethods limits the charts, because other laboratories may measure more ways.
const maxMethods = 8

func (c *comparePicture) frame(s *frameData) {
	c.shown = s.frame.Comparison
	c.available = false
	for _, a := range s.hello.Actions {
		c.available = c.available || a.ID == "compare"
	}
}

func (c *comparePicture) lines(width, height int) []line {
	switch {
	case c.shown == nil && c.available:
		return []line{text(muted, "Nothing has been measured yet. Choose Compare lists, with m.")}
	case c.shown == nil:
		return wrapped(muted, "Only a laboratory can measure this, and this program has none. Run: kinform top", width)
	}
	all := wrapped(muted, formatInt(c.shown.Objects)+" pods of a separate server. Memory is the growth of the whole process since the beginning. It includes the server and garbage. ○ marks the first object, ● the last one.", width)
	ways := c.shown.Methods[:min(len(c.shown.Methods), maxMethods)]
	longest, most := 0.001, 1e6
	for _, w := range ways {
		longest, most = max(longest, w.All, w.First), max(most, float64(w.Peak))
		for _, m := range w.Memory {
			longest = max(longest, m[0])
		}
	}
	all = append(all, text(strong, fmt.Sprintf("%-16s%14s%14s%16s", "Way", "First object", "All objects", "Memory, at most")))
	for _, w := range ways {
		first, whole := unknown, "…"
		if w.First > 0 {
			first = seconds(w.First)
		}
		if w.All > 0 {
			whole = seconds(w.All)
		}
		all = append(all, joined(text(plain, c.title(w)).fit(16), text(plain, fmt.Sprintf("%14s%14s%16s", first, whole, formatBytes(max(float64(w.Peak), 0))))))
	}
	if len(ways) == 0 {
		return all
	}
	// Each way has a chart. All charts have the same number of rows and the same scale.
	const left = 16
	room := max(width-left-1, 10)
	rows := min(max((height-len(all)-1)/len(ways), 1), 4)
	for _, w := range ways {
		for n, row := range c.chart(w, room, rows, longest, most) {
			label := line(nil)
			switch n {
			case 0:
				label = text(plain, c.title(w))
			case 1:
				label = text(muted, "to "+formatBytes(most))
			}
			all = append(all, joined(label.fit(left), row))
		}
	}
	return append(all, joined(line(nil).fit(left), leftAndRight(text(muted, "0"), text(muted, seconds(longest)), room)))
}

func (c *comparePicture) title(w view.ListMethod) string {
	if t := methodTitles[w.Name]; t != "" {
		return t
	}
	return w.Name
}

// chart draws memory over time. Each row has eight steps. The top row has the marks.
func (c *comparePicture) chart(w view.ListMethod, width, rows int, longest, most float64) []line {
	heights := make([]int, width)
	for _, m := range w.Memory {
		x := column(m[0], longest, width)
		heights[x] = max(heights[x], int(math.Round(min(max(m[1]/most, 0), 1)*float64(rows*8))))
	}
	end := 0
	for x, h := range heights { // fill the columns between the moments
		if h > 0 {
			for ; end < x; end++ {
				heights[end] = max(heights[end], h/2)
			}
			end = x + 1
		}
	}
	all := make([]line, rows)
	for row := range rows {
		var b strings.Builder
		for _, h := range heights {
			switch above := h - (rows-1-row)*8; {
			case above <= 0:
				b.WriteByte(' ')
			default:
				b.WriteRune(sparkRunes[min(above, 8)-1])
			}
		}
		all[row] = text(accent, b.String())
	}
	setMark := func(at float64, sign string) {
		if at > 0 {
			runes := []rune(all[0].String())
			runes[column(at, longest, width)] = []rune(sign)[0]
			all[0] = text(accent, string(runes))
		}
	}
	setMark(w.First, "○")
	setMark(w.All, "●")
	return all
}

func column(at, longest float64, width int) int {
	return min(max(int(at/longest*float64(width-1)), 0), width-1)
}
