package resourcelock

import (
	"bytes"
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// UnknownLeader is the leader if the two locks of a MultiLock disagree.
//
// Deprecated: only MultiLock uses it.
const UnknownLeader = "leaderelection.k8s.io/unknown"

// MultiLock combines two locks. A candidate needs both locks to lead.
//
// Deprecated: it was for migrations from older kinds of locks to leases. Use LeaseLock.
type MultiLock struct {
	Primary   Interface
	Secondary Interface
}

var _ Interface = &MultiLock{}

// Get returns the record of the primary lock. If the secondary lock has another leader, the leader
// is UnknownLeader.
func (ml *MultiLock) Get(ctx context.Context) (*LeaderElectionRecord, []byte, error) {
	first, text, err := ml.Primary.Get(ctx)
	if err != nil {
		return nil, nil, err
	}
	second, more, err := ml.Secondary.Get(ctx)
	switch {
	case apierrors.IsNotFound(err) && first.HolderIdentity != ml.Identity():
		return first, text, nil // the leader has only the primary lock
	case err != nil:
		return nil, nil, err
	case second.HolderIdentity == first.HolderIdentity:
		return first, ConcatRawRecord(text, more), nil
	}
	first.HolderIdentity = UnknownLeader
	if text, err = json.Marshal(first); err != nil {
		return nil, nil, err
	}
	return first, ConcatRawRecord(text, more), nil
}

// Create creates both objects. The object of the primary lock may exist already.
func (ml *MultiLock) Create(ctx context.Context, ler LeaderElectionRecord) error {
	switch err := ml.Primary.Create(ctx, ler); {
	case err == nil, apierrors.IsAlreadyExists(err):
		return ml.Secondary.Create(ctx, ler)
	default:
		return err
	}
}

// Update changes both objects. If the object of the secondary lock does not exist, Update creates
// it.
func (ml *MultiLock) Update(ctx context.Context, ler LeaderElectionRecord) error {
	if err := ml.Primary.Update(ctx, ler); err != nil {
		return err
	}
	write := ml.Secondary.Update
	if _, _, err := ml.Secondary.Get(ctx); apierrors.IsNotFound(err) {
		write = ml.Secondary.Create
	}
	return write(ctx, ler)
}

// RecordEvent records an event about both locks.
func (ml *MultiLock) RecordEvent(s string) {
	ml.Primary.RecordEvent(s)
	ml.Secondary.RecordEvent(s)
}

// Describe describes the primary lock.
func (ml *MultiLock) Describe() string { return ml.Primary.Describe() }

// Identity returns the Identity of the primary lock.
func (ml *MultiLock) Identity() string { return ml.Primary.Identity() }

// ConcatRawRecord joins the records of two locks, with a comma.
//
// Deprecated: only MultiLock uses it.
func ConcatRawRecord(primaryRaw, secondaryRaw []byte) []byte {
	return bytes.Join([][]byte{primaryRaw, secondaryRaw}, []byte(","))
}
