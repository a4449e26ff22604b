package metrics

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"testing"

	"github.com/prometheus/prometheus/promql"
	"github.com/stretchr/testify/require"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// cellWidth and cellHeight are the size of a cell of the dashboard's grid, in pixels.
const cellWidth, cellHeight = 66, 30

var (
	backgroundColor = color.RGBA{24, 27, 31, 255}
	frameColor      = color.RGBA{60, 64, 70, 255}
	textColor       = color.RGBA{220, 222, 228, 255}
	gridColor       = color.RGBA{140, 146, 156, 255}
	palette         = []color.RGBA{{115, 191, 105, 255}, {242, 204, 12, 255}, {138, 184, 255, 255}, {255, 120, 10, 255}, {242, 73, 92, 255},
		{87, 148, 242, 255}, {184, 119, 217, 255}, {112, 92, 250, 255}, {55, 135, 45, 255}, {250, 100, 180, 255}}
)

// drawDashboard draws the panels with their data. The picture does not look like Grafana.
func drawDashboard(t *testing.T, file string, all []*panel, h *history) {
	t.Helper()
	rows := 0
	for _, p := range all {
		rows = max(rows, p.GridPos.Y+p.GridPos.H)
	}
	picture := image.NewRGBA(image.Rect(0, 0, 24*cellWidth, rows*cellHeight))
	draw.Draw(picture, picture.Bounds(), image.NewUniform(color.RGBA{17, 18, 23, 255}), image.Point{}, draw.Src)
	for _, p := range all {
		g := p.GridPos
		area := image.Rect(g.X*cellWidth, g.Y*cellHeight, (g.X+g.W)*cellWidth, (g.Y+g.H)*cellHeight)
		c := canvas{picture, area.Inset(4)}
		c.panel(p, h)
	}
	out, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, png.Encode(out, picture))
	require.NoError(t, out.Close())
}

type canvas struct {
	picture *image.RGBA
	area    image.Rectangle
}

func (c canvas) text(x, y int, s string, ink color.Color) {
	if most := (c.area.Max.X - x) / 7; len(s) > most {
		s = s[:max(most, 0)]
	}
	d := font.Drawer{Dst: c.picture, Src: image.NewUniform(ink), Face: basicfont.Face7x13, Dot: fixed.P(x, y)}
	d.DrawString(s)
}

func (c canvas) fill(area image.Rectangle, ink color.Color) {
	draw.Draw(c.picture, area.Intersect(c.area), image.NewUniform(ink), image.Point{}, draw.Src)
}

func (c canvas) panel(p *panel, h *history) {
	if p.Type == "row" {
		c.text(c.area.Min.X, c.area.Max.Y-6, p.Title, textColor)
		return
	}
	c.fill(c.area, backgroundColor)
	c.text(c.area.Min.X+8, c.area.Min.Y+16, p.Title, textColor)
	switch p.Type {
	case "stat":
		for _, l := range p.lines {
			c.text(c.area.Min.X+8, c.area.Min.Y+60, number(l.points[len(l.points)-1].F), palette[0])
		}
	case "state-timeline":
		c.states(p, h)
	default:
		c.graph(p, h)
	}
}

func (c canvas) graph(p *panel, h *history) {
	plot := image.Rect(c.area.Min.X+60, c.area.Min.Y+26, c.area.Max.X-10, c.area.Max.Y-14*(1+min(len(p.lines)/2, 4)))
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range p.lines {
		for _, at := range l.points {
			if !math.IsNaN(at.F) && !math.IsInf(at.F, 0) {
				low, high = min(low, at.F), max(high, at.F)
			}
		}
	}
	if low > 0 && low < high/2 || low == high {
		low = min(0, low)
	}
	if high <= low {
		high = low + 1
	}
	for i := range 3 {
		y := plot.Max.Y - i*plot.Dy()/2
		c.fill(image.Rect(plot.Min.X, y, plot.Max.X, y+1), frameColor)
		c.text(c.area.Min.X+4, y+4, number(low+(high-low)*float64(i)/2), gridColor)
	}
	x := func(at promql.FPoint) int {
		return plot.Min.X + int(float64(plot.Dx())*float64(at.T-h.start.UnixMilli())/float64(h.end.Sub(h.start).Milliseconds()))
	}
	y := func(at promql.FPoint) int { return plot.Max.Y - int(float64(plot.Dy())*(at.F-low)/(high-low)) }
	for n, l := range p.lines {
		shade := palette[n%len(palette)]
		for i, at := range l.points {
			if math.IsNaN(at.F) || math.IsInf(at.F, 0) {
				continue
			}
			if i > 0 && at.T-l.points[i-1].T <= interval.Milliseconds() && !math.IsNaN(l.points[i-1].F) {
				c.line(x(l.points[i-1]), y(l.points[i-1]), x(at), y(at), shade)
			} else {
				c.fill(image.Rect(x(at), y(at), x(at)+2, y(at)+2), shade)
			}
		}
		if n < 10 {
			c.text(c.area.Min.X+8+n%2*c.area.Dx()/2, plot.Max.Y+14*(n/2+1), "- "+l.name, shade)
		}
	}
}

func (c canvas) states(p *panel, h *history) {
	for n, l := range p.lines {
		y := c.area.Min.Y + 26 + n*16
		c.text(c.area.Min.X+4, y+11, l.name, gridColor)
		left, width := c.area.Min.X+190, c.area.Dx()-200
		for _, at := range l.points {
			x := left + int(float64(width)*float64(at.T-h.start.UnixMilli())/float64(h.end.Sub(h.start).Milliseconds()))
			c.fill(image.Rect(x, y, x+3, y+12), palette[3])
		}
	}
}

// line draws from one point to another.
func (c canvas) line(x0, y0, x1, y1 int, ink color.Color) {
	steps := max(abs(x1-x0), abs(y1-y0), 1)
	for i := range steps + 1 {
		c.fill(image.Rect(x0+(x1-x0)*i/steps, y0+(y1-y0)*i/steps, x0+(x1-x0)*i/steps+1, y0+(y1-y0)*i/steps+2), ink)
	}
}

func abs(n int) int { return max(n, -n) }

func number(f float64) string {
	switch {
	case math.Abs(f) >= 1e6:
		return fmt.Sprintf("%.3gM", f/1e6)
	case math.Abs(f) >= 1e4:
		return fmt.Sprintf("%.3gk", f/1e3)
	}
	return fmt.Sprintf("%.3g", f)
}
