package resourcelock

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// LeaseLock is a lock that is a Lease of coordination.k8s.io.
type LeaseLock struct {
	// LeaseMeta has the Lease's name and namespace. Nothing else of it is used.
	LeaseMeta metav1.ObjectMeta
	// Client asks the server.
	Client coordinationv1client.LeasesGetter
	// LockConfig has the candidate's name.
	LockConfig ResourceLockConfig

	// Labels are those that the Lease has after each write, beside those that it had. Defaults to nil: none.
	Labels map[string]string

	lease *coordinationv1.Lease // as the server returned it last; nil before
}

var _ Interface = &LeaseLock{}

// Get asks for the Lease and returns what it says, and the same in JSON.
func (ll *LeaseLock) Get(ctx context.Context) (*LeaderElectionRecord, []byte, error) {
	lease, err := ll.leases().Get(ctx, ll.LeaseMeta.Name, metav1.GetOptions{})
	if err != nil {
		return nil, nil, err
	}
	ll.lease = lease
	record := LeaseSpecToLeaderElectionRecord(&lease.Spec)
	raw, err := json.Marshal(record)
	if err != nil {
		return nil, nil, err
	}
	return record, raw, nil
}

// Create makes the Lease.
func (ll *LeaseLock) Create(ctx context.Context, ler LeaderElectionRecord) error {
	lease, err := ll.leases().Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: ll.LeaseMeta.Name, Namespace: ll.LeaseMeta.Namespace, Labels: maps.Clone(ll.Labels)},
		Spec:       LeaderElectionRecordToLeaseSpec(&ler),
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	ll.lease = lease
	return nil
}

// Update writes the Lease that was read or written last. The server refuses that if it has changed since.
func (ll *LeaseLock) Update(ctx context.Context, ler LeaderElectionRecord) error {
	if ll.lease == nil {
		return errors.New("lease not initialized, call get or create first")
	}
	next := *ll.lease
	next.Spec = LeaderElectionRecordToLeaseSpec(&ler)
	if len(ll.Labels) > 0 {
		next.Labels = maps.Clone(next.Labels)
		if next.Labels == nil {
			next.Labels = make(map[string]string, len(ll.Labels))
		}
		maps.Copy(next.Labels, ll.Labels)
	}
	lease, err := ll.leases().Update(ctx, &next, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	ll.lease = lease
	return nil
}

// RecordEvent records a normal event of the reason LeaderElection about the Lease: the candidate's name and s.
func (ll *LeaseLock) RecordEvent(s string) {
	if ll.LockConfig.EventRecorder == nil {
		return
	}
	about := &coordinationv1.Lease{
		TypeMeta:   metav1.TypeMeta{APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease"},
		ObjectMeta: ll.LeaseMeta,
	}
	if ll.lease != nil {
		about.ObjectMeta = ll.lease.ObjectMeta
	}
	ll.LockConfig.EventRecorder.Eventf(about, corev1.EventTypeNormal, "LeaderElection", "%s", ll.Identity()+" "+s)
}

// Describe returns the Lease's namespace and name, with a slash.
func (ll *LeaseLock) Describe() string { return ll.LeaseMeta.Namespace + "/" + ll.LeaseMeta.Name }

// Identity is that of LockConfig.
func (ll *LeaseLock) Identity() string { return ll.LockConfig.Identity }

func (ll *LeaseLock) leases() coordinationv1client.LeaseInterface {
	return ll.Client.Leases(ll.LeaseMeta.Namespace)
}
