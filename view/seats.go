package view

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// seats are the open streams. A viewer without the token may be any user of the machine, and could
// hold all seats for as long as the program runs. So among viewers without the token the newest
// ones get the seats, and a viewer with the token keeps its seat.
type seats struct {
	mu    sync.Mutex // guards following
	taken []*seat    // the oldest first
}

// seat is an open stream. Its ctx ends when another viewer takes the seat.
type seat struct {
	ctx   context.Context
	end   context.CancelCauseFunc
	known bool // has the token or a session
}

var (
	errTooMany = errors.New("too many viewers")
	errGaveWay = errors.New("gave way to another viewer")
)

// gaveWay is the reconnect delay that the view sends to a viewer that has lost its seat. If one
// person has too many pages open, the delay makes the pages alternate slowly.
const gaveWay = 5 * time.Second

// take takes a seat. The argument most is the number of all seats. If all are taken, the oldest
// viewer without the token loses its seat. The caller must call leave at the end.
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
