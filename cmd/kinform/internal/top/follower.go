package top

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kinform/kinform/view"
)

// streamUpdate is the part of a stream that has not been read yet: the newest frame, with the
// events of earlier frames. A slow reader misses frames, so nothing accumulates.
type streamUpdate struct {
	stream int // number of the stream; content of an earlier stream that comes late is dropped
	hello  *view.Hello
	frame  *view.Frame
	lost   string // why there is no stream at present, or ""
}

// follower reads the stream of a pipeline, and reconnects when the stream is lost.
type follower struct {
	page *page
	more chan struct{} // has one element while there is content to read

	mu   sync.Mutex // guards following
	now  streamUpdate
	stop context.CancelFunc
	done chan struct{}
}

func newFollower(p *page) *follower { return &follower{page: p, more: make(chan struct{}, 1)} }

// follow switches to another stream, and returns the number of the stream.
func (f *follower) follow(name string) int {
	f.end()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	f.mu.Lock()
	f.stop, f.done = stop, done
	f.now = streamUpdate{stream: f.now.stream + 1}
	of := f.now.stream
	f.mu.Unlock()
	go func() {
		defer close(done)
		f.run(ctx, name)
	}()
	return of
}

// end stops the stream and waits until it has ended.
func (f *follower) end() {
	f.mu.Lock()
	stop, done := f.stop, f.done
	f.mu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
}

// Limits of the delay before a reconnect.
const (
	minReconnectDelay = 500 * time.Millisecond
	maxReconnectDelay = 8 * time.Second
)

func (f *follower) run(ctx context.Context, name string) {
	for wait := minReconnectDelay; ; wait = min(wait*2, maxReconnectDelay) {
		err := f.page.lines(ctx, name, func(l view.Line) {
			wait = minReconnectDelay
			f.put(func(h *streamUpdate) {
				h.lost = ""
				if l.Hello != nil {
					h.hello, h.frame = l.Hello, nil
				}
				if l.Frame != nil {
					h.frame = mergeFrames(h.frame, l.Frame)
				}
			})
		})
		if ctx.Err() != nil {
			return
		}
		f.put(func(h *streamUpdate) { h.lost = safe(fmt.Sprintf("%v; tries again in %v", err, wait)) })
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// maxEvents limits the events of a frame, when the events of earlier frames are added to it.
const maxEvents = 1000

// mergeFrames(before, f) returns the frame f. If the frame before it has not been read, the result
// includes the events of both, so that the list of events is complete.
func mergeFrames(before, f *view.Frame) *view.Frame {
	if before == nil || len(before.Events) == 0 || f.At < before.At {
		return f
	}
	events := make([]view.Event, 0, len(before.Events)+len(f.Events))
	for _, e := range before.Events {
		e.At += before.At - f.At
		events = append(events, e)
	}
	events = append(events, f.Events...)
	f.Events = events[max(len(events)-maxEvents, 0):]
	return f
}

func (f *follower) put(change func(*streamUpdate)) {
	f.mu.Lock()
	change(&f.now)
	f.mu.Unlock()
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// take returns the content that has not been read.
func (f *follower) take() streamUpdate {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.now
	f.now.hello, f.now.frame = nil, nil
	return h
}

// fetchPipelines checks that the page exists, before a screen is opened for it.
func fetchPipelines(ctx context.Context, p *page) (view.Pipelines, error) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	all, err := p.pipelines(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("no response for 10 seconds")
	}
	return all, err
}
