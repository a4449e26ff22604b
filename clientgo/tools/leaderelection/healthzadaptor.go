package leaderelection

import (
	"net/http"
	"sync"
	"time"
)

// HealthzAdaptor is a health check. It fails for a leader that continues to lead although it could
// not renew its lease. It can be registered before the candidate exists.
type HealthzAdaptor struct {
	timeout time.Duration

	mu sync.Mutex // guards following
	le *LeaderElector
}

// NewLeaderHealthzAdaptor returns a health check. It fails if the candidate leads, and its lease
// expired more than timeout ago.
func NewLeaderHealthzAdaptor(timeout time.Duration) *HealthzAdaptor {
	return &HealthzAdaptor{timeout: timeout}
}

// Name returns "leaderElection".
func (l *HealthzAdaptor) Name() string { return "leaderElection" }

// Check returns the result of the candidate's Check, or nil if there is no candidate yet.
func (l *HealthzAdaptor) Check(req *http.Request) error {
	l.mu.Lock()
	le := l.le
	l.mu.Unlock()
	if le == nil {
		return nil
	}
	return le.Check(l.timeout)
}

// SetLeaderElection sets the candidate.
func (l *HealthzAdaptor) SetLeaderElection(le *LeaderElector) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.le = le
}
