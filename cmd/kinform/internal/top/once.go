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

// settles is how long to wait after the first frame, because rates need a second.
const settles = 1200 * time.Millisecond

// once prints one frame as text. It is the last frame of a recording, or a live frame with known
// rates.
func once(ctx context.Context, p *page, all view.Parts, play *player, width int, out io.Writer) error {
	s := newScreen(p, time.Now())
	s.width = max(width, leastWidth)
	if play != nil {
		play.playing = false
		s.play(play)
		for !play.ended() {
			play.forth(s.frame)
		}
		s.said = ""
	} else if err := s.onceLive(ctx, p, all); err != nil {
		return err
	}
	_, err := io.WriteString(out, s.asText())
	return err
}

// onceLive receives frames of a pipeline until its rates are known.
func (s *screen) onceLive(ctx context.Context, p *page, all view.Parts) error {
	s.index.take(all, s.now)
	name := ""
	if len(all.Parts) > 0 {
		name = all.Parts[0].Name
	}
	enough, stop := context.WithCancel(ctx)
	defer stop()
	first := -1.0
	err := p.lines(enough, name, func(l view.Line) {
		if l.Hello != nil {
			s.hear(l.Hello)
		}
		if l.Frame == nil || s.hello == nil {
			return
		}
		s.now = time.Now()
		s.since = s.now
		s.frame(l.Frame)
		if first < 0 {
			first = l.Frame.At
		}
		if l.Frame.At-first >= float64(settles.Milliseconds()) {
			stop()
		}
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case enough.Err() == nil:
		return fmt.Errorf("%s: %w", p.base, err)
	}
	// The first index is older than the picture. It may be from a time before the first list.
	if all, err = reach(ctx, p); err != nil {
		return fmt.Errorf("%s: %w", p.base, err)
	}
	s.index.take(all, s.now)
	return nil
}

// asText returns the whole screen as text: boxes with all of their numbers, and the last events.
func (s *screen) asText() string {
	boxes := s.boxes(s.width, 1000)
	all := slices.Concat([]line{s.header(), s.wrong()}, boxes, s.panel(11))
	if len(s.index.parts) > 1 {
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
func (s *screen) indexText() []line { return s.indexLines(s.width, 1000+len(s.index.parts)) }
