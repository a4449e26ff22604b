package top

import (
	"github.com/kinform/kinform/view"
)

// past keeps the numbers of the last minute, one value for each moment.
type past struct {
	series map[string]*[moments]float64
	known  map[string]*[moments]bool
	next   int
	at     float64 // time of the current moment
}

const (
	moments = 60
	moment  = 1000 // in milliseconds
)

func newPast() *past {
	return &past{series: map[string]*[moments]float64{}, known: map[string]*[moments]bool{}}
}

// add adds the numbers of a frame. For each moment it keeps the maximum.
func (p *past) add(numbers []view.Number, boxes map[string]*view.Box, at float64) {
	if at < p.at {
		p.at = at
	}
	if at-p.at > moments*moment { // after a long time without frames
		clear(p.known)
		clear(p.series)
		p.at = at
	}
	for range int((at - p.at) / moment) {
		p.at += moment
		p.next = (p.next + 1) % moments
		for _, k := range p.known {
			k[p.next] = false
		}
	}
	for _, number := range numbers {
		value, ok := drawn(number, boxes[number.Box])
		if !ok {
			continue
		}
		id := number.Box + "." + number.ID
		if p.series[id] == nil {
			p.series[id], p.known[id] = new([moments]float64), new([moments]bool)
		}
		s, k := p.series[id], p.known[id]
		if !k[p.next] || value > s[p.next] {
			s[p.next], k[p.next] = value, true
		}
	}
}

// drawn returns the value to draw in a number's history: the rate of a counter, or the 99th
// percentile of a time.
func drawn(number view.Number, box *view.Box) (value float64, ok bool) {
	if box == nil {
		return 0, false
	}
	switch number.Kind {
	case "counter":
		value, ok = box.Rates[number.ID]
	case "time":
		t := box.Times[number.ID]
		value, ok = t.P99, t.Count > 0
	default:
		value, ok = box.Numbers[number.ID]
	}
	return value, ok
}

var sparks = []rune("▁▂▃▄▅▆▇█")

// spark draws the last minute of a number in this width, with the newest value at the right. The
// result is empty if no value is known.
func (p *past) spark(id string, width int) string {
	s, k := p.series[id], p.known[id]
	if s == nil || width <= 0 {
		return ""
	}
	width = min(width, moments)
	var most float64
	for n := range moments {
		if k[n] {
			most = max(most, s[n])
		}
	}
	drawing := make([]rune, width)
	for x := range width {
		// Several moments share a cell.
		from, to := x*moments/width, (x+1)*moments/width
		value, known := 0.0, false
		for n := from; n < to; n++ {
			at := (p.next + 1 + n) % moments
			if k[at] {
				value, known = max(value, s[at]), true
			}
		}
		switch {
		case !known:
			drawing[x] = ' '
		case most <= 0:
			drawing[x] = sparks[0]
		default:
			drawing[x] = sparks[int(max(value, 0)/most*float64(len(sparks)-1)+0.5)]
		}
	}
	return string(drawing)
}
