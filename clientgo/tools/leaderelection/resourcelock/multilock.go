package resourcelock

import (
	"bytes"
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// UnknownLeader is who leads when the two locks of a MultiLock don't agree.
//
// Deprecated: only MultiLock uses it.
const UnknownLeader = "leaderelection.k8s.io/unknown"

// MultiLock is two locks of which a candidate needs both.
//
// Deprecated: it served to move from older kinds of locks to leases. Use LeaseLock.
type MultiLock struct {
	Primary   Interface
	Secondary Interface
}

var _ Interface = &MultiLock{}

// Get returns the record of the primary lock. If there is a secondary one with another leader, nobody is known to lead.
func (ml *MultiLock) Get(ctx context.Context) (*LeaderElectionRecord, []byte, error) {
	first, text, err := ml.Primary.Get(ctx)
	if err != nil {
		return nil, nil, err
	}
	second, more, err := ml.Secondary.Get(ctx)
	switch {
	case apierrors.IsNotFound(err) && first.HolderIdentity != ml.Identity():
		return first, text, nil // another candidate holds the lock, which does not know of the second
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

// Create makes both objects. The primary one may exist.
func (ml *MultiLock) Create(ctx context.Context, ler LeaderElectionRecord) error {
	switch err := ml.Primary.Create(ctx, ler); {
	case err == nil, apierrors.IsAlreadyExists(err):
		return ml.Secondary.Create(ctx, ler)
	default:
		return err
	}
}

// Update changes both objects, and makes the secondary one if it is not there.
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

// Identity is that of the primary lock.
func (ml *MultiLock) Identity() string { return ml.Primary.Identity() }

// ConcatRawRecord joins the records of two locks, with a comma.
//
// Deprecated: only MultiLock uses it.
func ConcatRawRecord(primaryRaw, secondaryRaw []byte) []byte {
	return bytes.Join([][]byte{primaryRaw, secondaryRaw}, []byte(","))
}
