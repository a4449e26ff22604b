package resourcelock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	rl "k8s.io/client-go/tools/leaderelection/resourcelock"
)

func TestARecordRoundTripsThroughALease(t *testing.T) {
	at := metav1.NewTime(time.Unix(1000, 5000))
	record := &rl.LeaderElectionRecord{
		HolderIdentity: "a", LeaseDurationSeconds: 15, AcquireTime: at, RenewTime: at, LeaderTransitions: 2,
		Strategy: coordinationv1.OldestEmulationVersion, PreferredHolder: "b",
	}
	spec := rl.LeaderElectionRecordToLeaseSpec(record)
	require.Equal(t, record, rl.LeaseSpecToLeaderElectionRecord(&spec))
	require.Equal(t, &rl.LeaderElectionRecord{}, rl.LeaseSpecToLeaderElectionRecord(&coordinationv1.LeaseSpec{}))
	spec = rl.LeaderElectionRecordToLeaseSpec(&rl.LeaderElectionRecord{})
	require.Nil(t, spec.Strategy)
	require.Nil(t, spec.PreferredHolder)
	require.Empty(t, *spec.HolderIdentity)
}

// memoryLock is an in-memory lock.
type memoryLock struct {
	rl.Interface
	record *rl.LeaderElectionRecord
}

func (k *memoryLock) Get(context.Context) (*rl.LeaderElectionRecord, []byte, error) {
	if k.record == nil {
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{}, "x")
	}
	record := *k.record
	return &record, []byte(record.HolderIdentity), nil
}
func (k *memoryLock) Create(_ context.Context, r rl.LeaderElectionRecord) error {
	k.record = &r
	return nil
}
func (k *memoryLock) Update(_ context.Context, r rl.LeaderElectionRecord) error {
	k.record = &r
	return nil
}
func (k *memoryLock) Identity() string { return "me" }

func TestMultiLock(t *testing.T) {
	ctx, first, second := t.Context(), &memoryLock{}, &memoryLock{}
	lock := &rl.MultiLock{Primary: first, Secondary: second}
	_, _, err := lock.Get(ctx)
	require.True(t, apierrors.IsNotFound(err))
	first.record = &rl.LeaderElectionRecord{HolderIdentity: "you"}
	record, raw, err := lock.Get(ctx)
	require.NoError(t, err)
	require.Equal(t, "you", record.HolderIdentity)
	require.Equal(t, "you", string(raw))
	require.NoError(t, lock.Update(ctx, rl.LeaderElectionRecord{HolderIdentity: "me"}))
	require.Equal(t, "me", second.record.HolderIdentity)
	_, raw, err = lock.Get(ctx)
	require.NoError(t, err)
	require.Equal(t, "me,me", string(raw))
	second.record.HolderIdentity = "you"
	record, _, err = lock.Get(ctx)
	require.NoError(t, err)
	require.Equal(t, rl.UnknownLeader, record.HolderIdentity)
}
