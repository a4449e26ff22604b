package top

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kinform/kinform/view"
)

// heard is what a stream has brought since it was last taken: of the frames, the newest, with the events of those before it. Who takes slowly
// misses frames, and nothing piles up.
type heard struct {
	of    int // the number of the stream: what an earlier one brought late is left out
	hello *view.Hello
	frame *view.Frame
	lost  string // why there is no stream now; "" if there is one
	fresh bool   // something is here that nobody has taken
}

// follower reads the stream of a pipeline, and connects again when it is lost.
type follower struct {
	page *page
	more chan struct{} // has one element while something is to be taken

	mu   sync.Mutex // guards following
	now  heard
	stop context.CancelFunc
	done chan struct{}
}

func newFollower(p *page) *follower { return &follower{page: p, more: make(chan struct{}, 1)} }

// follow reads another stream from now on, and returns its number.
func (f *follower) follow(name string) int {
	f.end()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	f.mu.Lock()
	f.stop, f.done = stop, done
	f.now = heard{of: f.now.of + 1}
	of := f.now.of
	f.mu.Unlock()
	go func() {
		defer close(done)
		f.run(ctx, name)
	}()
	return of
}

// end ends the stream, and waits for that.
func (f *follower) end() {
	f.mu.Lock()
	stop, done := f.stop, f.done
	f.mu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
}

// again is for how long it waits before it connects again, at first and at most.
const (
	firstAgain = 500 * time.Millisecond
	mostAgain  = 8 * time.Second
)

func (f *follower) run(ctx context.Context, name string) {
	for wait := firstAgain; ; wait = min(wait*2, mostAgain) {
		err := f.page.lines(ctx, name, func(l view.Line) {
			wait = firstAgain
			f.put(func(h *heard) {
				h.lost = ""
				if l.Hello != nil {
					h.hello, h.frame = l.Hello, nil
				}
				if l.Frame != nil {
					h.frame = after(h.frame, l.Frame)
				}
			})
		})
		if ctx.Err() != nil {
			return
		}
		f.put(func(h *heard) { h.lost = safe(fmt.Sprintf("%v; tries again in %v", err, wait)) })
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// mostEvents bounds the events of a frame that has those of others as well.
const mostEvents = 1000

// after returns a frame with the events of one before it that nobody has taken: the pictures are about what happens.
func after(before, f *view.Frame) *view.Frame {
	if before == nil || len(before.Events) == 0 || f.At < before.At {
		return f
	}
	events := make([]view.Event, 0, len(before.Events)+len(f.Events))
	for _, e := range before.Events {
		e.At += before.At - f.At
		events = append(events, e)
	}
	events = append(events, f.Events...)
	f.Events = events[max(len(events)-mostEvents, 0):]
	return f
}

func (f *follower) put(change func(*heard)) {
	f.mu.Lock()
	change(&f.now)
	f.now.fresh = true
	f.mu.Unlock()
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// take returns what is new.
func (f *follower) take() heard {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.now
	f.now.hello, f.now.frame, f.now.fresh = nil, nil, false
	return h
}

// reach says whether there is a page at all, before a screen is opened for it.
func reach(ctx context.Context, p *page) (view.Parts, error) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	all, err := p.parts(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("no answer for 10 seconds")
	}
	return all, err
}
