// Package progress reports on standard error what a measurement does, from its start: compiling,
// warming up, run 2 of 5. The results go to standard output.
package progress

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Progress writes lines about a known number of steps. A nil Progress writes nothing.
type Progress struct {
	name  string
	steps int
	out   io.Writer

	stepsBegun  int       // steps begun so far
	first, last time.Time // when the first step began, and when a line was last written
}

// New returns the Progress of a program with this many steps.
func New(name string, steps int) *Progress {
	return &Progress{name: name, steps: steps, out: os.Stderr}
}

// Printf writes a line that is not about a step.
func (p *Progress) Printf(format string, args ...any) {
	if p != nil {
		fmt.Fprintf(p.out, "%s: %s\n", p.name, fmt.Sprintf(format, args...))
	}
}

// Next begins a step, and writes a line with the estimated time left. If steps are shorter than a
// second, some steps get no line.
func (p *Progress) Next(format string, args ...any) {
	if p == nil {
		return
	}
	now := time.Now()
	if p.stepsBegun++; p.stepsBegun == 1 {
		p.first = now
	} else if now.Sub(p.last) < time.Second {
		return
	}
	p.last = now
	left := ""
	if done := p.stepsBegun - 1; done > 0 {
		each := now.Sub(p.first) / time.Duration(done)
		left = fmt.Sprintf(", some %v left", (each * time.Duration(max(p.steps-done, 0))).Round(time.Second))
	}
	p.Printf("%d of %d%s: %s", p.stepsBegun, p.steps, left, fmt.Sprintf(format, args...))
}
