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
	record, raw, err := ml.Primary.Get(ctx)
	if err != nil {
		return nil, nil, err
	}
	other, otherRaw, err := ml.Secondary.Get(ctx)
	if err != nil {
		if apierrors.IsNotFound(err) && record.HolderIdentity != ml.Identity() {
			return record, raw, nil // another candidate holds the lock, which does not know of the second
		}
		return nil, nil, err
	}
	if other.HolderIdentity != record.HolderIdentity {
		record.HolderIdentity = UnknownLeader
		if raw, err = json.Marshal(record); err != nil {
			return nil, nil, err
		}
	}
	return record, ConcatRawRecord(raw, otherRaw), nil
}

// Create makes both objects. The primary one may exist.
func (ml *MultiLock) Create(ctx context.Context, ler LeaderElectionRecord) error {
	if err := ml.Primary.Create(ctx, ler); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return ml.Secondary.Create(ctx, ler)
}

// Update changes both objects, and makes the secondary one if it is not there.
func (ml *MultiLock) Update(ctx context.Context, ler LeaderElectionRecord) error {
	if err := ml.Primary.Update(ctx, ler); err != nil {
		return err
	}
	_, _, err := ml.Secondary.Get(ctx)
	if apierrors.IsNotFound(err) {
		return ml.Secondary.Create(ctx, ler)
	}
	return ml.Secondary.Update(ctx, ler)
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
