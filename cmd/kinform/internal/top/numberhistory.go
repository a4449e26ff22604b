package top

import (
	"github.com/kinform/kinform/view"
)

// numberHistory keeps the numbers of the last minute, one value for each moment.
type numberHistory struct {
	series map[string]*[historyLength]float64
	known  map[string]*[historyLength]bool
	next   int
	at     float64 // time of the current moment
}

const (
	historyLength = 60
	historyStep   = 1000 // in milliseconds
)

func newNumberHistory() *numberHistory {
	return &numberHistory{series: map[string]*[historyLength]float64{}, known: map[string]*[historyLength]bool{}}
}

// add adds the numbers of a frame. A moment lasts historyStep, and keeps the maximum of each
// number.
func (p *numberHistory) add(numbers []view.Number, boxes map[string]*view.Box, at float64) {
	if at-p.at > historyLength*historyStep { // after a long time without frames
		clear(p.known)
		clear(p.series)
		p.at = at
	}
	for range int((at - p.at) / historyStep) {
		p.at += historyStep
		p.next = (p.next + 1) % historyLength
		for _, k := range p.known {
			k[p.next] = false
		}
	}
	for _, number := range numbers {
		value, ok := sparkValue(number, boxes[number.Box])
		if !ok {
			continue
		}
		id := number.Box + "." + number.ID
		if p.series[id] == nil {
			p.series[id], p.known[id] = new([historyLength]float64), new([historyLength]bool)
		}
		s, k := p.series[id], p.known[id]
		if !k[p.next] || value > s[p.next] {
			s[p.next], k[p.next] = value, true
		}
	}
}

// sparkValue returns the value to draw in a number's history: the rate of a counter, or the 99th
// percentile of a time.
func sparkValue(number view.Number, box *view.Box) (value float64, ok bool) {
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

var sparkRunes = []rune("▁▂▃▄▅▆▇█")

// spark draws the last minute of a number in this width, with the newest value at the right. The
// result is empty if no value is known.
func (p *numberHistory) spark(id string, width int) string {
	s, k := p.series[id], p.known[id]
	if s == nil || width <= 0 {
		return ""
	}
	width = min(width, historyLength)
	var most float64
	for n := range historyLength {
		if k[n] {
			most = max(most, s[n])
		}
	}
	drawing := make([]rune, width)
	for x := range width {
		// Several moments share a cell.
		from, to := x*historyLength/width, (x+1)*historyLength/width
		value, known := 0.0, false
		for n := from; n < to; n++ {
			at := (p.next + 1 + n) % historyLength
			if k[at] {
				value, known = max(value, s[at]), true
			}
		}
		switch {
		case !known:
			drawing[x] = ' '
		case most <= 0:
			drawing[x] = sparkRunes[0]
		default:
			drawing[x] = sparkRunes[int(max(value, 0)/most*float64(len(sparkRunes)-1)+0.5)]
		}
	}
	return string(drawing)
}
