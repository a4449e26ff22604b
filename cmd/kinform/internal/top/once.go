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

// settles is for how long a frame is waited for, from the first one on: rates are of a second.
const settles = 1200 * time.Millisecond

// once prints one frame as text: of a recording the last one, of what runs one that has rates.
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

// onceLive looks at a pipeline until it has settled.
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
	// The index that it began with is of the time before the picture: perhaps of that before the first list.
	if all, err = reach(ctx, p); err != nil {
		return fmt.Errorf("%s: %w", p.base, err)
	}
	s.index.take(all, s.now)
	return nil
}

// asText is all of a screen as text: boxes with all of their numbers, and the last events.
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

// indexText is all of the index: what is wrong with the first one takes no room of others.
func (s *screen) indexText() []line { return s.indexLines(s.width, 1000+len(s.index.parts)) }
