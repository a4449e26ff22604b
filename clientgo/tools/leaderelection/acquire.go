package leaderelection

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	rl "k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// record returns a record with this candidate as the leader, at time now.
func (le *LeaderElector) record(now metav1.Time) rl.LeaderElectionRecord {
	return rl.LeaderElectionRecord{
		HolderIdentity:       le.config.Lock.Identity(),
		LeaseDurationSeconds: int(le.config.LeaseDuration / time.Second),
		AcquireTime:          now,
		RenewTime:            now,
	}
}

// tryAcquireOrRenew takes or renews the lock, and reports whether this candidate then holds it. A
// leader with an unexpired lease first tries to write without reading the lock. This is safe,
// because the update fails if another candidate has written.
func (le *LeaderElector) tryAcquireOrRenew(ctx context.Context) bool {
	now := metav1.Now()
	mine := le.record(now)
	if le.IsLeader() && le.valid(now.Time) {
		seen, _ := le.getObserved()
		mine.AcquireTime, mine.LeaderTransitions = seen.AcquireTime, seen.LeaderTransitions
		if le.update(ctx, mine) {
			return true
		}
	}
	found, ok := le.readLock(ctx)
	if !ok {
		return false
	}
	if found == nil {
		return le.create(ctx, mine)
	}
	if found.HolderIdentity != "" && !le.IsLeader() && le.valid(now.Time) {
		klog.FromContext(ctx).V(4).Info("Another candidate leads", "lock", le.config.Lock.Describe(), "holder", found.HolderIdentity)
		return false
	}
	mine.AcquireTime, mine.LeaderTransitions = now, found.LeaderTransitions+1
	if le.IsLeader() {
		mine.AcquireTime, mine.LeaderTransitions = found.AcquireTime, found.LeaderTransitions
		le.metrics.SlowpathExercised(le.config.Name)
	}
	return le.update(ctx, mine)
}

// tryRenewCoordinated renews the lock if the control plane has given it to this candidate. It
// reports whether this candidate then holds the lock.
func (le *LeaderElector) tryRenewCoordinated(ctx context.Context) bool {
	now := metav1.Now()
	found, ok := le.readLock(ctx)
	if !ok || found == nil {
		return false
	}
	logger := klog.FromContext(ctx)
	switch {
	case !le.valid(now.Time):
		logger.Info("The leader's time is over", "lock", le.config.Lock.Describe(), "holder", found.HolderIdentity)
		return false
	case !le.IsLeader():
		logger.V(4).Info("Another candidate leads", "lock", le.config.Lock.Describe(), "holder", found.HolderIdentity)
		return false
	case found.PreferredHolder != "":
		logger.V(4).Info("Another candidate is to lead", "lock", le.config.Lock.Describe(), "preferred", found.PreferredHolder)
		return false
	}
	mine := le.record(now)
	mine.AcquireTime, mine.LeaderTransitions = found.AcquireTime, found.LeaderTransitions
	mine.Strategy = found.Strategy
	le.metrics.SlowpathExercised(le.config.Name)
	return le.update(ctx, mine)
}

// readLock reads the lock and returns its record, or nil if there is no lock yet. ok is false if
// the lock could not be read.
func (le *LeaderElector) readLock(ctx context.Context) (found *rl.LeaderElectionRecord, ok bool) {
	found, raw, err := le.config.Lock.Get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return nil, true
	case err != nil:
		klog.FromContext(ctx).Error(err, "Could not read the leader's lock", "lock", le.config.Lock.Describe())
		return nil, false
	}
	le.observe(found, raw)
	return found, true
}

func (le *LeaderElector) create(ctx context.Context, mine rl.LeaderElectionRecord) bool {
	if err := le.config.Lock.Create(ctx, mine); err != nil {
		klog.FromContext(ctx).Error(err, "Could not create the leader's lock", "lock", le.config.Lock.Describe())
		return false
	}
	le.setObserved(mine)
	return true
}

func (le *LeaderElector) update(ctx context.Context, mine rl.LeaderElectionRecord) bool {
	return le.afterWrite(ctx, mine, le.config.Lock.Update(ctx, mine))
}

// afterWrite records the result of an update.
func (le *LeaderElector) afterWrite(ctx context.Context, mine rl.LeaderElectionRecord, err error) bool {
	if err != nil {
		klog.FromContext(ctx).Error(err, "Could not write the leader's lock", "lock", le.config.Lock.Describe())
		return false
	}
	le.setObserved(mine)
	return true
}

// release releases the lock if this candidate holds it. It reads the lock first, so as not to
// overwrite another candidate's record. It takes at most RenewDeadline.
func (le *LeaderElector) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), le.config.RenewDeadline)
	defer cancel()
	for {
		found, ok := le.readLock(ctx)
		if !ok || found == nil || !le.IsLeader() {
			le.reportLeader()
			return
		}
		ended := rl.LeaderElectionRecord{LeaderTransitions: found.LeaderTransitions, LeaseDurationSeconds: 1, RenewTime: metav1.Now()}
		ended.AcquireTime = ended.RenewTime
		err := le.config.Lock.Update(ctx, ended)
		if apierrors.IsConflict(err) {
			continue // a renewal was written whose response was lost, so read again
		}
		le.afterWrite(ctx, ended, err)
		return
	}
}
