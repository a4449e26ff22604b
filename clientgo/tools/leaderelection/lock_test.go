package leaderelection_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	le "k8s.io/client-go/tools/leaderelection"
	rl "k8s.io/client-go/tools/leaderelection/resourcelock"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

// server stores the record that the locks of all candidates write.
type server struct {
	mu      sync.Mutex // guards following
	record  *rl.LeaderElectionRecord
	version int
	down    bool
	hangs   bool // calls hang until their contexts end
	late    bool // a renewal of the leader arrives while the leader releases the lock
	log     []string
	begin   time.Time
}

func (s *server) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteLocked(format, args...)
}

func (s *server) noteLocked(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf("%v ", time.Since(s.begin))+fmt.Sprintf(format, args...))
}

func (s *server) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *server) taken() (log []string) {
	s.do(func() { log, s.log = s.log, nil })
	return log
}

// lock is a candidate's lock. It has the last version that the candidate has read or written.
type lock struct {
	*server
	name string
	seen int
}

func (l *lock) begin(ctx context.Context) error {
	l.mu.Lock()
	down, hangs := l.down, l.hangs
	l.mu.Unlock()
	if hangs {
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if down {
		return errors.New("connection refused")
	}
	return nil
}

func (l *lock) Get(ctx context.Context) (*rl.LeaderElectionRecord, []byte, error) {
	l.note("%s gets", l.name)
	if err := l.begin(ctx); err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.record == nil {
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "leases"}, "x")
	}
	l.seen = l.version
	record := *l.record
	raw, err := json.Marshal(record)
	return &record, raw, err
}

func (l *lock) Create(ctx context.Context, r rl.LeaderElectionRecord) error {
	return l.write(ctx, "creates", r, func() bool { return l.record == nil })
}

func (l *lock) Update(ctx context.Context, r rl.LeaderElectionRecord) error {
	return l.write(ctx, "writes", r, func() bool { return l.record != nil && l.seen == l.version })
}

func (l *lock) write(ctx context.Context, what string, r rl.LeaderElectionRecord, mayLocked func() bool) error {
	l.note("%s %s %q for %d, change %d", l.name, what, r.HolderIdentity, r.LeaseDurationSeconds, r.LeaderTransitions)
	if err := l.begin(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.late && r.HolderIdentity == "" {
		l.late = false
		l.version++
	}
	if !mayLocked() {
		return apierrors.NewConflict(schema.GroupResource{Resource: "leases"}, "x", errors.New("it has changed"))
	}
	l.version++
	l.record, l.seen = &r, l.version
	return nil
}

func (l *lock) RecordEvent(s string) { l.note("%s %s", l.name, s) }
func (l *lock) Identity() string     { return l.name }
func (l *lock) Describe() string     { return "ns/lock" }

// candidate is a running candidate.
type candidate struct {
	*le.LeaderElector
	stop context.CancelFunc
	over chan struct{}
}

func run(t *testing.T, s *server, name string, change func(*le.LeaderElectionConfig)) *candidate {
	config := le.LeaderElectionConfig{
		Lock: &lock{server: s, name: name}, Name: "election",
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: le.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { s.note("%s leads", name); <-ctx.Done(); s.note("%s is to end", name) },
			OnStoppedLeading: func() { s.note("%s has stopped", name) },
			OnNewLeader:      func(leader string) { s.note("%s sees leader %q", name, leader) },
		},
	}
	if change != nil {
		change(&config)
	}
	elector, err := le.NewLeaderElector(config)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	c := &candidate{elector, cancel, make(chan struct{})}
	go func() {
		defer close(c.over)
		elector.Run(ctx)
	}()
	return c
}

func (c *candidate) end() {
	c.stop()
	<-c.over
}
