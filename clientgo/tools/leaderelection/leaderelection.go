package leaderelection

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/runtime"
	rl "k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// LeaderElector is a candidate. It is safe for concurrent use, except that only one Run may be
// active at a time.
type LeaderElector struct {
	config  LeaderElectionConfig
	metrics LeaderMetric

	raw      []byte // the last record from Get; only Run uses it
	reported string // the last leader that OnNewLeader got; only Run uses it

	mu       sync.Mutex // guards following
	observed rl.LeaderElectionRecord
	since    time.Time // when observed was seen or written
}

// NewLeaderElector returns a candidate, or an error for an invalid config. It sends no requests
// before Run.
func NewLeaderElector(lec LeaderElectionConfig) (*LeaderElector, error) {
	if err := lec.validate(); err != nil {
		return nil, err
	}
	le := &LeaderElector{config: lec, metrics: newLeaderMetric()}
	le.metrics.Off(lec.Name)
	return le, nil
}

// RunOrDie calls NewLeaderElector and Run. It panics if the config is invalid.
func RunOrDie(ctx context.Context, lec LeaderElectionConfig) {
	le, wrong := NewLeaderElector(lec)
	switch {
	case wrong != nil:
		panic(wrong)
	case lec.WatchDog != nil:
		lec.WatchDog.SetLeaderElection(le)
	}
	le.Run(ctx)
}

// Run waits until this candidate leads, and returns when the candidate stops leading: when ctx
// ends, or when the candidate could not renew in time.
func (le *LeaderElector) Run(ctx context.Context) {
	defer runtime.HandleCrashWithContext(ctx)
	defer le.config.Callbacks.OnStoppedLeading()
	if le.acquire(ctx) {
		le.lead(ctx)
	}
}

// acquire waits until this candidate leads. It returns false if ctx ends first.
func (le *LeaderElector) acquire(ctx context.Context) bool {
	logger := klog.FromContext(ctx)
	lock := le.config.Lock.Describe()
	logger.Info("Waiting for the leader's lock", "lock", lock)
	for ctx.Err() == nil {
		acquired := le.try(ctx)
		le.reportLeader()
		if acquired {
			le.config.Lock.RecordEvent("became leader")
			le.metrics.On(le.config.Name)
			logger.Info("Took the leader's lock", "lock", lock)
			return true
		}
		logger.V(4).Info("Did not get the leader's lock", "lock", lock)
		pause(ctx, le.config.RetryPeriod+time.Duration(rand.Float64()*JitterFactor*float64(le.config.RetryPeriod)))
	}
	return false
}

// lead calls OnStartedLeading and renews until ctx ends or renewals have failed for too long.
func (le *LeaderElector) lead(ctx context.Context) {
	leading, stop := context.WithCancel(ctx)
	defer stop()
	go func() { le.config.Callbacks.OnStartedLeading(leading) }()

	defer le.config.Lock.RecordEvent("stopped leading")
	defer le.metrics.Off(le.config.Name)
	for le.renew(ctx) {
		pause(ctx, le.config.RetryPeriod)
	}
	stop() // before the lock is released
	if le.config.ReleaseOnCancel {
		le.release(ctx)
	}
}

// renew renews the record, with retries for at most RenewDeadline. It reports whether the record
// was renewed.
func (le *LeaderElector) renew(parent context.Context) bool {
	ctx, cancel := context.WithTimeout(parent, le.config.RenewDeadline)
	defer cancel()
	next := time.NewTicker(le.config.RetryPeriod)
	defer next.Stop()
	for ctx.Err() == nil {
		renewed := le.try(ctx)
		le.reportLeader()
		if renewed {
			return true
		}
		select {
		case <-ctx.Done():
		case <-next.C:
		}
	}
	if parent.Err() == nil {
		klog.FromContext(ctx).Info("Could not renew the leader's lock", "lock", le.config.Lock.Describe(), "for", le.config.RenewDeadline)
	}
	return false
}

func (le *LeaderElector) try(ctx context.Context) bool {
	if le.config.Coordinated {
		return le.tryRenewCoordinated(ctx)
	}
	return le.tryAcquireOrRenew(ctx)
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// observe stores the record that Get returned. If the record is unchanged, the time since does not
// change.
func (le *LeaderElector) observe(record *rl.LeaderElectionRecord, raw []byte) {
	if bytes.Equal(le.raw, raw) {
		return
	}
	le.raw = raw
	le.setObserved(*record)
}

func (le *LeaderElector) setObserved(record rl.LeaderElectionRecord) {
	le.mu.Lock()
	defer le.mu.Unlock()
	le.observed, le.since = record, time.Now()
}

func (le *LeaderElector) getObserved() (record rl.LeaderElectionRecord, since time.Time) {
	le.mu.Lock()
	defer le.mu.Unlock()
	return le.observed, le.since
}

// valid reports whether the last seen lease has not expired at the time now.
func (le *LeaderElector) valid(now time.Time) bool {
	record, since := le.getObserved()
	return since.Add(time.Duration(record.LeaseDurationSeconds) * time.Second).After(now)
}

// reportLeader calls OnNewLeader if the leader has changed.
func (le *LeaderElector) reportLeader() {
	leader := le.GetLeader()
	if leader == le.reported {
		return
	}
	le.reported = leader
	if le.config.Callbacks.OnNewLeader != nil {
		go func() { le.config.Callbacks.OnNewLeader(leader) }()
	}
}

// GetLeader returns the name of the last seen leader, or "".
func (le *LeaderElector) GetLeader() string {
	record, _ := le.getObserved()
	return record.HolderIdentity
}

// IsLeader reports whether this candidate is the last seen leader.
func (le *LeaderElector) IsLeader() bool { return le.GetLeader() == le.config.Lock.Identity() }

// Check returns an error if this candidate leads and its lease expired more than
// maxTolerableExpiredLease ago.
func (le *LeaderElector) Check(maxTolerableExpiredLease time.Duration) error {
	record, since := le.getObserved()
	if record.HolderIdentity != le.config.Lock.Identity() {
		return nil
	}
	if time.Since(since) > le.config.LeaseDuration+maxTolerableExpiredLease {
		return fmt.Errorf("failed election to renew leadership on lease %s", le.config.Name)
	}
	return nil
}
