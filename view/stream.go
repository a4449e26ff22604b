package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
)

// ErrUnknownPipeline is wrapped by the errors of Frames and Record if the view has no informer or
// queue of that name.
var ErrUnknownPipeline = errors.New("the view has no such informer or queue")

// viewer is one viewer of a pipeline. While a pipeline has viewers, its recorders record events.
type viewer struct {
	builder  *frameBuilder
	tick     uint64
	attached map[*recorder]bool
}

// newViewer begins to view a pipeline. The caller must call close.
func (v *View) newViewer(name string) (*viewer, error) {
	p := v.frameBuilder(name)
	if p == nil {
		return nil, fmt.Errorf("%w: %q", ErrUnknownPipeline, clean(name))
	}
	v.viewers.Add(1)
	l := &viewer{builder: p, attached: map[*recorder]bool{}}
	p.addViewer(v.recordersOf(p))
	l.attachRecorders()
	return l, nil
}

// attachRecorders makes the recorders of the pipeline record events. Each call includes the
// recorders of entries that were added since the last call.
func (l *viewer) attachRecorders() {
	for _, rec := range l.builder.view.recordersOf(l.builder) {
		if !l.attached[rec] {
			l.attached[rec] = true
			rec.ring.refill()
			rec.viewers.Add(1)
		}
	}
}

// recordersOf returns the recorders of a pipeline's current entries.
func (v *View) recordersOf(p *frameBuilder) (recs []*recorder) {
	of, queues := v.entriesOf(p)
	if of != nil {
		recs = append(recs, of.rec)
	}
	for _, q := range queues {
		recs = append(recs, q.rec)
	}
	return recs
}

func (l *viewer) close() {
	for rec := range l.attached {
		rec.viewers.Add(-1)
	}
	l.builder.removeViewer()
	l.builder.view.viewers.Add(-1)
}

// next waits for the next frame and returns it, and also its encoded line. It returns nil when ctx
// or the view has ended. If the caller is late, it misses frames.
func (l *viewer) next(ctx context.Context) (*Frame, []byte) {
	v := l.builder.view
	every := v.opts.FrameInterval
	wait := time.NewTimer(every - time.Since(v.start)%every)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return nil, nil
	case <-v.closed:
		return nil, nil
	case <-wait.C:
	}
	l.attachRecorders()
	l.tick = max(uint64(time.Since(v.start)/every), l.tick+1)
	f, line := l.builder.frameAt(l.tick)
	l.tick = f.Seq
	return f, line
}

// Frames returns the frames of the informer with this name and its queues, or of a single queue. An
// empty name means the first pipeline. The iterator ends with ctx or the view. From its start, the
// loop counts as a viewer, but not for Options.MaxViewers. A slow loop misses frames. Frames are
// shared and must not be changed.
func (v *View) Frames(ctx context.Context, name string) (*Hello, iter.Seq[*Frame], error) {
	p := v.frameBuilder(name)
	if p == nil {
		return nil, nil, fmt.Errorf("%w: %q", ErrUnknownPipeline, clean(name))
	}
	return p.hello(), func(yield func(*Frame) bool) {
		l, err := v.newViewer(p.name)
		if err != nil { // the pipeline was removed meanwhile
			return
		}
		defer l.close()
		for f, _ := l.next(ctx); f != nil && yield(f); f, _ = l.next(ctx) {
		}
	}, nil
}

// Record writes the frames of a pipeline to w as JSON lines, one [Line] each, until ctx or the view
// ends. The page can open the file.
func (v *View) Record(ctx context.Context, w io.Writer, name string) error {
	return v.lines(ctx, name, func(line []byte) error {
		_, err := w.Write(append(line[:len(line):len(line)], '\n'))
		return err
	})
}

// lines calls the function write with each line of a pipeline, until ctx or the view ends, or until
// the function fails.
func (v *View) lines(ctx context.Context, name string, write func(line []byte) error) error {
	l, err := v.newViewer(name)
	if err != nil {
		return err
	}
	defer l.close()
	line, err := json.Marshal(Line{Hello: l.builder.hello()})
	if err != nil {
		return fmt.Errorf("view: encoding the first line of the stream: %w", err)
	}
	for line != nil {
		if err := write(line); err != nil {
			return err
		}
		_, line = l.next(ctx)
	}
	return nil
}
