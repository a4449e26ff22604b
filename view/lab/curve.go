package lab

import (
	"time"

	"github.com/kinform/kinform/view"
)

// maxPoints limits the points of a curve, because each frame has three curves.
const maxPoints = 40

// curve is a number of bytes over time, reduced to few points. It divides the time into spans, and
// keeps the maximum of each span. The spans grow with the curve, so the number of points stays
// bounded.
type curve struct {
	span   time.Duration
	last   time.Duration // when the last span began
	points []view.MemoryPoint
}

// add adds a measurement. The time must not be before the time of the previous call.
func (c *curve) add(at time.Duration, bytes int64) {
	if c.span == 0 {
		c.span = time.Millisecond
	}
	moment := view.MemoryPoint{at.Seconds(), float64(max(bytes, 0))}
	if began := at.Truncate(c.span); len(c.points) == 0 || began > c.last {
		c.last = began
		c.points = append(c.points, moment)
	} else if last := &c.points[len(c.points)-1]; moment[1] >= last[1] {
		*last = moment
	}
	if len(c.points) > maxPoints {
		c.widen()
	}
}

// widen doubles the spans.
func (c *curve) widen() {
	wider := curve{span: 2 * c.span}
	for _, m := range c.points {
		wider.add(time.Duration(m[0]*float64(time.Second)), int64(m[1]))
	}
	*c = wider
}

// peak returns the maximum.
func (c *curve) peak() (most int64) {
	for _, m := range c.points {
		most = max(most, int64(m[1]))
	}
	return most
}
