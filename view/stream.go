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

// ErrNoSuch is wrapped by the errors of Frames and Record if the view has no informer or queue of
// that name.
var ErrNoSuch = errors.New("the view has no such informer or queue")

// looker is one viewer of a picture. While a picture has viewers, its recorders record events.
type looker struct {
	picture *picture
	tick    uint64
	heard   map[*recorder]bool
}

// look begins to view a picture. The caller must call leave.
func (v *View) look(name string) (*looker, error) {
	p := v.picture(name)
	if p == nil {
		return nil, fmt.Errorf("%w: %q", ErrNoSuch, clean(name))
	}
	v.viewers.Add(1)
	l := &looker{picture: p, heard: map[*recorder]bool{}}
	p.begin(v.recordersOf(p))
	l.hear()
	return l, nil
}

// hear makes the recorders of the picture record events. It includes recorders of parts that were
// added later.
func (l *looker) hear() {
	for _, rec := range l.picture.view.recordersOf(l.picture) {
		if !l.heard[rec] {
			l.heard[rec] = true
			rec.ring.reopen()
			rec.viewers.Add(1)
		}
	}
}

// recordersOf returns the recorders of a picture's current parts.
func (v *View) recordersOf(p *picture) (recs []*recorder) {
	of, queues := v.shown(p)
	if of != nil {
		recs = append(recs, of.rec)
	}
	for _, q := range queues {
		recs = append(recs, q.rec)
	}
	return recs
}

func (l *looker) leave() {
	for rec := range l.heard {
		rec.viewers.Add(-1)
	}
	l.picture.end()
	l.picture.view.viewers.Add(-1)
}

// next waits for the next frame and returns it, also as an encoded line. It returns nil when ctx or
// the view has ended. If the caller is late, it misses frames.
func (l *looker) next(ctx context.Context) (*Frame, []byte) {
	v := l.picture.view
	every := v.opts.Every
	wait := time.NewTimer(every - time.Since(v.start)%every)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return nil, nil
	case <-v.closed:
		return nil, nil
	case <-wait.C:
	}
	l.hear()
	l.tick = max(uint64(time.Since(v.start)/every), l.tick+1)
	f, line := l.picture.at(l.tick)
	l.tick = f.Seq
	return f, line
}

// Frames returns the frames of the informer with this name and its queues, or of a single queue. An
// empty name means the first pipeline. The iterator ends with ctx or the view. The loop counts as a
// viewer from its start, but not for Options.MaxViewers. A slow loop misses frames. Frames are
// shared and must not be changed.
func (v *View) Frames(ctx context.Context, name string) (*Hello, iter.Seq[*Frame], error) {
	p := v.picture(name)
	if p == nil {
		return nil, nil, fmt.Errorf("%w: %q", ErrNoSuch, clean(name))
	}
	return p.hello(), func(yield func(*Frame) bool) {
		l, err := v.look(p.name)
		if err != nil { // the pipeline was removed meanwhile
			return
		}
		defer l.leave()
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
	l, err := v.look(name)
	if err != nil {
		return err
	}
	defer l.leave()
	line, err := json.Marshal(Line{Hello: l.picture.hello()})
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
