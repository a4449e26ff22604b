// Package resourcelock has the locks of leader elections. A lock is an object with the leader's
// name.
package resourcelock

import (
	"context"

	v1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// LeaderElectionRecordAnnotationKey is the annotation in which the older lock types, before
	// leases, have their record.
	LeaderElectionRecordAnnotationKey = "control-plane.alpha.kubernetes.io/leader"

	// LeasesResourceLock is the type of a lock that is a Lease of coordination.k8s.io.
	LeasesResourceLock = "leases"
)

// LeaderElectionRecord is the content of a lock.
type LeaderElectionRecord struct {
	// HolderIdentity is the leader's name. It is empty if the lock was released. Then any candidate
	// may take the lock.
	HolderIdentity string `json:"holderIdentity"`
	// LeaseDurationSeconds is how long other candidates wait for a renewal before they take the
	// lock.
	LeaseDurationSeconds int `json:"leaseDurationSeconds"`
	// AcquireTime is when the leader took the lock, and RenewTime is when it last renewed. Both are
	// times of the leader's clock.
	AcquireTime metav1.Time `json:"acquireTime"`
	RenewTime   metav1.Time `json:"renewTime"`
	// LeaderTransitions is the number of changes of the leader.
	LeaderTransitions int `json:"leaderTransitions"`
	// Strategy and PreferredHolder belong to a coordinated election, in which the control plane
	// chooses the leader.
	Strategy        v1.CoordinatedLeaseStrategy `json:"strategy"`
	PreferredHolder string                      `json:"preferredHolder"`
}

// EventRecorder records an event about a lock.
type EventRecorder interface {
	Eventf(obj runtime.Object, eventType, reason, message string, args ...interface{})
}

// ResourceLockConfig is the configuration of every type of lock.
type ResourceLockConfig struct {
	// Identity is the candidate's name. It must be unique.
	Identity string
	// EventRecorder records an event when the candidate starts or stops leading. Defaults to nil:
	// no events.
	EventRecorder EventRecorder
}

// Interface is a lock. It is called by one goroutine at a time.
type Interface interface {
	// Get returns the record, and the record as bytes. The bytes must differ if the record has
	// changed. If the object does not exist, the error is a server's NotFound error.
	Get(ctx context.Context) (*LeaderElectionRecord, []byte, error)

	// Create creates the object.
	Create(ctx context.Context, ler LeaderElectionRecord) error

	// Update changes the object that Get, Create or Update returned last. It fails if the object
	// has changed since.
	Update(ctx context.Context, ler LeaderElectionRecord) error

	// RecordEvent records an event about the lock.
	RecordEvent(string)

	// Identity returns the candidate's name.
	Identity() string

	// Describe returns a description of the lock for people.
	Describe() string
}
