package view

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// viewerSlots are the open streams. A viewer without the token may be any user of the machine, and
// could hold all seats for as long as the program runs. So among viewers without the token the
// newest ones get the seats, and a viewer with the token keeps its seat.
type viewerSlots struct {
	mu    sync.Mutex    // guards following
	slots []*viewerSlot // the oldest first
}

// viewerSlot is an open stream. Its ctx ends when another viewer takes the seat.
type viewerSlot struct {
	ctx        context.Context
	end        context.CancelCauseFunc
	authorized bool // has the token or a session
}

var (
	errTooMany  = errors.New("too many viewers")
	errReplaced = errors.New("gave way to another viewer")
)

// replacedRetry is the reconnect delay that the view sends to a viewer that has lost its seat. If
// one person has too many pages open, the delay makes the pages alternate slowly.
const replacedRetry = 5 * time.Second

// acquire takes a seat. The argument most is the number of all seats. If all are taken, the oldest
// viewer without the token loses its seat. The caller must call leave at the end.
func (s *viewerSlots) acquire(ctx context.Context, most int, authorized bool) (*viewerSlot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.slots) >= most {
		oldest := slices.IndexFunc(s.slots, func(t *viewerSlot) bool { return !t.authorized })
		if oldest < 0 {
			return nil, errTooMany
		}
		s.slots[oldest].end(errReplaced)
		s.slots = slices.Delete(s.slots, oldest, oldest+1)
	}
	taken := &viewerSlot{authorized: authorized}
	taken.ctx, taken.end = context.WithCancelCause(ctx)
	s.slots = append(s.slots, taken)
	return taken, nil
}

func (s *viewerSlots) release(left *viewerSlot) {
	left.end(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots = slices.DeleteFunc(s.slots, func(t *viewerSlot) bool { return t == left })
}
