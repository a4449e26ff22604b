package leaderelection

import (
	"net/http"
	"sync"
	"time"
)

// HealthzAdaptor is a health check of a candidate: of a leader that can't renew and goes on. It can be registered
// before there is a candidate.
type HealthzAdaptor struct {
	timeout time.Duration

	mu sync.Mutex // guards following
	le *LeaderElector
}

// NewLeaderHealthzAdaptor returns a health check that fails when the lease of a leader has been over for longer than
// the timeout.
func NewLeaderHealthzAdaptor(timeout time.Duration) *HealthzAdaptor {
	return &HealthzAdaptor{timeout: timeout}
}

// Name is leaderElection.
func (l *HealthzAdaptor) Name() string { return "leaderElection" }

// Check returns nil if there is no candidate yet, or else what its Check says.
func (l *HealthzAdaptor) Check(req *http.Request) error {
	l.mu.Lock()
	le := l.le
	l.mu.Unlock()
	if le == nil {
		return nil
	}
	return le.Check(l.timeout)
}

// SetLeaderElection says which candidate it is.
func (l *HealthzAdaptor) SetLeaderElection(le *LeaderElector) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.le = le
}
