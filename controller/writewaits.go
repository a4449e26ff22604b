package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/internal/logthrottle"
)

const (
	// maxHold is the maximum time that a key is held back for one write. A cache with an open watch
	// has a write within the interval of two bookmarks, a minute each. A cache whose watch broke
	// needs a retry and a list, which take less. A slower cache may never see the write.
	maxHold = 2 * time.Minute

	// slowHold is how long a key is held back before the manager stops being ready.
	slowHold = 30 * time.Second

	// recheckInterval is the interval at which a wait checks whether the cache can still see the
	// write.
	recheckInterval = time.Second

	// unseenRetention is how long a key that was reconciled without its write is reported, unless
	// the cache gets the write earlier. maxUnseen is the maximum number of reported keys.
	unseenRetention = 5 * time.Minute
	maxUnseen       = 100
)

// errHeldTooLong is the cause of a wait that reached maxHold.
var errHeldTooLong = fmt.Errorf("the write has not arrived within %v", maxHold)

// awaitedWrite is a write that a key waits for.
type awaitedWrite struct {
	cache  string // the name of the cache
	object types.NamespacedName
	wait   cacheWait
}

// writeWait is a wait in progress, or a wait that ended without the write.
type writeWait struct {
	key      types.NamespacedName
	cache    string
	object   types.NamespacedName
	since    time.Time // when it began, or when it ended
	err      error
	hasWrite func() bool // reports whether the cache has the write now
}

// writeWaits has the waits of a controller for its own writes.
type writeWaits struct {
	controller string
	logger     *slog.Logger
	hooks      *contain.Hooks

	mu          sync.Mutex // guards following
	waiting     map[*writeWait]struct{}
	unseen      []*writeWait // waits that ended without the write, the oldest first
	ended       uint64       // number of waits that ended without the write
	logThrottle logthrottle.Throttle
}

// wait waits for a write. The wait ends after maxHold, or when the cache can no longer see the
// write.
func (h *writeWaits) wait(ctx context.Context, key types.NamespacedName, w awaitedWrite) error {
	one := &writeWait{key: key, cache: w.cache, object: w.object, since: time.Now(), hasWrite: w.wait.hasWrite}
	h.mu.Lock()
	if h.waiting == nil {
		h.waiting = map[*writeWait]struct{}{}
	}
	h.waiting[one] = struct{}{}
	h.mu.Unlock()
	// err keeps this value if a method of the user's object type panics or calls runtime.Goexit.
	err := errors.New("a function of the program panicked")
	defer func() { h.finish(ctx, one, err) }()
	bounded, cancel := context.WithTimeoutCause(ctx, maxHold, errHeldTooLong)
	defer cancel()
	err = w.wait.until(bounded)
	return nil // finish logs err.
}

// finish records the end of a wait.
func (h *writeWaits) finish(ctx context.Context, one *writeWait, err error) {
	h.mu.Lock()
	delete(h.waiting, one)
	h.unseen = slices.DeleteFunc(h.unseen, func(before *writeWait) bool {
		return before.key == one.key && before.cache == one.cache && before.object == one.object
	})
	if err == nil || ctx.Err() != nil { // The write has arrived, or the queue ends.
		h.mu.Unlock()
		return
	}
	one.since, one.err = time.Now(), err
	if len(h.unseen) == maxUnseen {
		h.unseen = slices.Delete(h.unseen, 0, 1)
	}
	h.unseen = append(h.unseen, one)
	h.ended++
	unlogged, due := h.logThrottle.Due(0, one.since)
	h.mu.Unlock()
	if due {
		h.logger.LogAttrs(ctx, slog.LevelWarn, "a key is reconciled before a cache has received the key's own write: the reconcile may see an older state",
			slog.String("controller", h.controller), slog.String("key", one.key.String()), slog.String("cache", one.cache),
			slog.String("object", one.object.String()), slog.Any("err", err), slog.Uint64("unlogged", unlogged))
	}
}

// healthy returns an error if keys have been held back for longer than slowHold. The error names
// the key that has waited longest. It also names a key that was lately reconciled without its
// write.
func (h *writeWaits) healthy() error {
	h.prune()
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	var problems []error
	var oldest *writeWait
	slow := 0
	for one := range h.waiting {
		if now.Sub(one.since) < slowHold {
			continue
		}
		slow++
		if oldest == nil || one.since.Before(oldest.since) {
			oldest = one
		}
	}
	if slow > 0 {
		problems = append(problems, fmt.Errorf("controller %s: key %s is held back for %v: cache %s has not received the key's write of %s%s",
			h.controller, oldest.key, now.Sub(oldest.since).Round(time.Second), oldest.cache, oldest.object, andMore(slow-1)))
	}
	if n := len(h.unseen); n > 0 {
		last := h.unseen[n-1]
		problems = append(problems, fmt.Errorf("controller %s: key %s was reconciled %v ago before cache %s had received the key's write of %s%s: %w",
			h.controller, last.key, now.Sub(last.since).Round(time.Second), last.cache, last.object, andMore(n-1), last.err))
	}
	return errors.Join(problems...)
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// prune forgets unseen writes that are old, and writes that the caches have meanwhile.
func (h *writeWaits) prune() {
	h.mu.Lock()
	unseen := slices.Clone(h.unseen)
	h.mu.Unlock()
	now, obsolete := time.Now(), map[*writeWait]bool{}
	for _, one := range unseen {
		obsolete[one] = now.Sub(one.since) > unseenRetention
		h.hooks.Call("a method of an object", func() { obsolete[one] = obsolete[one] || one.hasWrite() })
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unseen = slices.DeleteFunc(h.unseen, func(one *writeWait) bool { return obsolete[one] })
}

// status sets the fields about the waits in s.
func (h *writeWaits) status(s *ControllerStatus) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	s.UnseenWrites = h.ended
	for one := range h.waiting {
		s.HeldKeys = append(s.HeldKeys, HeldKey{Key: one.key, Cache: one.cache, Object: one.object, For: now.Sub(one.since)})
	}
	slices.SortFunc(s.HeldKeys, func(a, b HeldKey) int { return cmp.Compare(b.For, a.For) })
	s.HeldKeys = s.HeldKeys[:min(len(s.HeldKeys), maxUnseen)]
	s.PendingWrites = len(h.waiting)
}
