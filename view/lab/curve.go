package lab

import (
	"time"

	"github.com/kinform/kinform/view"
)

// mostMoments limits the moments of a curve, because each frame has three curves.
const mostMoments = 40

// curve is a number of bytes over time, reduced to few moments. It divides the time into spans, and
// keeps the maximum of each span. As the curve gets longer, the spans grow, so the number of
// moments stays bounded.
type curve struct {
	span    time.Duration
	last    time.Duration // when the last span began
	moments []view.Moment
}

// add adds a measurement. The time must not be before the time of the previous call.
func (c *curve) add(at time.Duration, bytes int64) {
	if c.span == 0 {
		c.span = time.Millisecond
	}
	moment := view.Moment{at.Seconds(), float64(max(bytes, 0))}
	if began := at.Truncate(c.span); len(c.moments) == 0 || began > c.last {
		c.last = began
		c.moments = append(c.moments, moment)
	} else if last := &c.moments[len(c.moments)-1]; moment[1] >= last[1] {
		*last = moment
	}
	if len(c.moments) > mostMoments {
		c.widen()
	}
}

// widen doubles the spans.
func (c *curve) widen() {
	wider := curve{span: 2 * c.span}
	for _, m := range c.moments {
		wider.add(time.Duration(m[0]*float64(time.Second)), int64(m[1]))
	}
	*c = wider
}

// peak returns the maximum.
func (c *curve) peak() (most int64) {
	for _, m := range c.moments {
		most = max(most, int64(m[1]))
	}
	return most
}
