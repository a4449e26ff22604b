package view

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// viewerSlots are the open streams, at most Options.MaxViewers. A viewer without the token may be
// any user of the machine, and could hold all slots for as long as the program runs. So a new
// viewer without the token replaces the oldest viewer without the token. A viewer with the token
// keeps its slot.
type viewerSlots struct {
	mu    sync.Mutex    // guards following
	slots []*viewerSlot // the oldest first
}

// viewerSlot is an open stream. Its ctx ends when another viewer replaces this one.
type viewerSlot struct {
	ctx        context.Context
	end        context.CancelCauseFunc
	authorized bool // has the token or a session
}

var (
	errTooMany  = errors.New("too many viewers")
	errReplaced = errors.New("replaced by another viewer")
)

// replacedRetry is the reconnect delay that the view sends to a viewer that was replaced. If one
// user has too many pages open, the delay makes the pages alternate slowly.
const replacedRetry = 5 * time.Second

// acquire takes a slot for a viewer. The argument most is the number of all slots. If all slots are
// taken, acquire replaces the oldest viewer without the token. If all viewers have the token,
// acquire returns errTooMany. The caller must call release at the end.
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
