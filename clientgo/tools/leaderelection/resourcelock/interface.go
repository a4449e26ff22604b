// Package resourcelock has the objects that candidates of an election write their names into.
package resourcelock

import (
	"context"

	v1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// LeaderElectionRecordAnnotationKey is the annotation in which locks before leases kept their record.
	LeaderElectionRecordAnnotationKey = "control-plane.alpha.kubernetes.io/leader"

	// LeasesResourceLock is the type of lock that is a Lease of coordination.k8s.io.
	LeasesResourceLock = "leases"
)

// LeaderElectionRecord says who leads.
type LeaderElectionRecord struct {
	// HolderIdentity is the candidate that leads; empty if it has released the lock, so that anybody may take it.
	HolderIdentity string `json:"holderIdentity"`
	// LeaseDurationSeconds is how long other candidates wait for a renewal.
	LeaseDurationSeconds int `json:"leaseDurationSeconds"`
	// AcquireTime is when the candidate began to lead, and RenewTime when it last renewed that, by its own clock.
	AcquireTime metav1.Time `json:"acquireTime"`
	RenewTime   metav1.Time `json:"renewTime"`
	// LeaderTransitions is how often the leader has changed.
	LeaderTransitions int `json:"leaderTransitions"`
	// Strategy and PreferredHolder are those of a coordinated election, in which a controller of the control plane
	// chooses the leader.
	Strategy        v1.CoordinatedLeaseStrategy `json:"strategy"`
	PreferredHolder string                      `json:"preferredHolder"`
}

// EventRecorder records an event about a lock.
type EventRecorder interface {
	Eventf(obj runtime.Object, eventType, reason, message string, args ...interface{})
}

// ResourceLockConfig is what locks of all types need.
type ResourceLockConfig struct {
	// Identity is the candidate's name, which no other candidate has.
	Identity string
	// EventRecorder is told when the candidate begins and ends to lead. Defaults to nil: nobody.
	EventRecorder EventRecorder
}

// Interface is a lock. Only one goroutine calls it at a time.
type Interface interface {
	// Get returns the record, and the same in bytes, which change with the record. If there is no object yet, the
	// error is one of a server that says NotFound.
	Get(ctx context.Context) (*LeaderElectionRecord, []byte, error)

	// Create makes the object.
	Create(ctx context.Context, ler LeaderElectionRecord) error

	// Update changes the object that Get, Create or Update has returned last. It fails if it is not the same any more.
	Update(ctx context.Context, ler LeaderElectionRecord) error

	// RecordEvent records an event about the lock.
	RecordEvent(string)

	// Identity is the candidate's name.
	Identity() string

	// Describe says for people which lock it is.
	Describe() string
}
