package top

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kinform/kinform/view"
)

// ratesKnownAfter is how long to wait after the first frame, because rates need a second.
const ratesKnownAfter = 1200 * time.Millisecond

// once prints one frame with known rates as text.
func once(ctx context.Context, p *page, all view.Pipelines, width int, out io.Writer) error {
	s := newScreen(p, time.Now())
	s.width = max(width, minWidth)
	if err := s.receiveOnce(ctx, p, all); err != nil {
		return err
	}
	_, err := io.WriteString(out, s.asText())
	return err
}

// receiveOnce receives frames of a pipeline until its rates are known.
func (s *screen) receiveOnce(ctx context.Context, p *page, all view.Pipelines) error {
	s.index.update(all, s.now)
	name := ""
	if len(all.Pipelines) > 0 {
		name = all.Pipelines[0].Name
	}
	enough, stop := context.WithCancel(ctx)
	defer stop()
	first := -1.0
	err := p.lines(enough, name, func(l view.Line) {
		if l.Hello != nil {
			s.handleHello(l.Hello)
		}
		if l.Frame == nil || s.hello == nil {
			return
		}
		s.now = time.Now()
		s.lastFrameAt = s.now
		s.handleFrame(l.Frame)
		if first < 0 {
			first = l.Frame.At
		}
		if l.Frame.At-first >= float64(ratesKnownAfter.Milliseconds()) {
			stop()
		}
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case enough.Err() == nil:
		return fmt.Errorf("%s: %w", p.base, err)
	}
	// The first index is older than the picture, and may be from before the first list.
	if all, err = fetchPipelines(ctx, p); err != nil {
		return fmt.Errorf("%s: %w", p.base, err)
	}
	s.index.update(all, s.now)
	return nil
}

// asText returns the whole screen as text: boxes with all of their numbers, and the last events.
func (s *screen) asText() string {
	boxes := s.boxes(s.width, 1000)
	all := slices.Concat([]line{s.header(), s.problems()}, boxes, s.panel(11))
	if len(s.index.pipelines) > 1 {
		all = append(append(all, nil), s.indexText()...)
	}
	var b strings.Builder
	for _, l := range all {
		b.WriteString(strings.TrimRight(l.fit(s.width).String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// indexText returns the whole index. The height leaves room for the problems of the first pipeline.
func (s *screen) indexText() []line { return s.indexLines(s.width, 1000+len(s.index.pipelines)) }
