package sources

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/logthrottle"
	"github.com/kinform/kinform/reflector"
)

// PartFailure is a part of a merged source that currently cannot be listed or watched; see
// [MergeWith]. The part's stored objects have the state of Since, and may be older than the
// server's.
type PartFailure struct {
	// Part is the name of the part, or its number if it has no name.
	Part string

	// Err is the last failure. Since is the time of the first failure since the part last worked,
	// and Failures is the number of failures since then. ListFailures is the number of latest
	// consecutive failures that were lists. A part whose lists work makes slow progress even if its
	// watches fail.
	Err          error
	Since        time.Time
	Failures     int
	ListFailures int

	// Missing says that the part has never been listed, which MergeOptions.Tolerate permits: its
	// objects are not in the store.
	Missing bool
}

// partial is a source whose parts may fail while others go on.
type partial interface{ FailingParts() []PartFailure }

// logAfter is how long a part must have failed for a warning: a shorter failure may be a broken
// connection.
const logAfter = 5 * time.Second

// partsHealth records which parts of a source fail.
type partsHealth struct {
	names  []string
	logger *slog.Logger

	mu           sync.Mutex     // guards following
	parts        []*PartFailure // nil for a part that does not fail
	logThrottles []logthrottle.Throttle
}

func newPartsHealth(names []string, logger *slog.Logger) *partsHealth {
	return &partsHealth{names: names, logger: logger, parts: make([]*PartFailure, len(names)), logThrottles: make([]logthrottle.Throttle, len(names))}
}

// failed records a failure of a watch, or of a list.
func (h *partsHealth) failed(part int, err error, list, missing bool) {
	now := time.Now()
	h.mu.Lock()
	f := PartFailure{Part: h.names[part], Since: now}
	if h.parts[part] != nil {
		f = *h.parts[part]
	}
	f.Err, f.Missing = err, missing
	f.Failures++
	if f.ListFailures++; !list {
		f.ListFailures = 0
	}
	h.parts[part] = &f
	// If all parts fail, the reflector logs it.
	shouldLog := slices.Contains(h.parts, nil) && (missing || now.Sub(f.Since) >= logAfter)
	if shouldLog {
		_, shouldLog = h.logThrottles[part].Due(reflector.StatusCode(err), now)
	}
	h.mu.Unlock()
	if shouldLog {
		h.logger.Warn("A part of a merged source fails; the other parts continue", "part", f.Part, "err", err, "since", f.Since, "missing", missing)
	}
}

// listed records a list that succeeded.
func (h *partsHealth) listed(part int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.parts[part]; f != nil {
		f.ListFailures = 0
	}
}

// recovered records that a part does not fail any more.
func (h *partsHealth) recovered(part int) {
	h.mu.Lock()
	f := h.parts[part]
	h.parts[part] = nil
	wasLogged := h.logThrottles[part].Recovered()
	h.mu.Unlock()
	if wasLogged {
		h.logger.Info("A part of a merged source has recovered", "part", f.Part, "failures", f.Failures, "since", f.Since)
	}
}

func (h *partsHealth) fails(part int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.parts[part] != nil
}

// failing returns the failing parts, in the order of the parts.
func (h *partsHealth) failing() (failing []PartFailure) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.parts {
		if f != nil {
			failing = append(failing, *f)
		}
	}
	return failing
}
