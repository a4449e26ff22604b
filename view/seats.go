package view

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// seats are the streams that are served. A viewer without the token may be any user of the machine, who could hold all seats for as long
// as the program runs. So a seat without the token is for those who came last, and a seat with it is kept.
type seats struct {
	mu    sync.Mutex // guards following
	taken []*seat    // the oldest first
}

// seat is a stream. ctx ends when the seat is given to another.
type seat struct {
	ctx   context.Context
	end   context.CancelCauseFunc
	known bool // has the token or a session
}

var (
	errTooMany = errors.New("too many look already")
	errGaveWay = errors.New("gave way to another viewer")
)

// gaveWay is when a viewer that gave way may come again. Pages of one person that are too many take turns, slowly.
const gaveWay = 5 * time.Second

// take takes a seat of at most most. Of those without the token, the oldest one gives way. The caller has to call leave.
func (s *seats) take(ctx context.Context, most int, known bool) (*seat, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.taken) >= most {
		oldest := slices.IndexFunc(s.taken, func(t *seat) bool { return !t.known })
		if oldest < 0 {
			return nil, errTooMany
		}
		s.taken[oldest].end(errGaveWay)
		s.taken = slices.Delete(s.taken, oldest, oldest+1)
	}
	taken := &seat{known: known}
	taken.ctx, taken.end = context.WithCancelCause(ctx)
	s.taken = append(s.taken, taken)
	return taken, nil
}

func (s *seats) leave(left *seat) {
	left.end(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = slices.DeleteFunc(s.taken, func(t *seat) bool { return t == left })
}
