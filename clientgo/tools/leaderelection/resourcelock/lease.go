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
	// LeaseMeta has the Lease's name and namespace. Its other fields are ignored.
	LeaseMeta metav1.ObjectMeta
	// Client is the client for Leases.
	Client coordinationv1client.LeasesGetter
	// LockConfig has the candidate's name.
	LockConfig ResourceLockConfig

	// Labels are set on the Lease at each write, in addition to its other labels. Defaults to nil.
	Labels map[string]string

	lease *coordinationv1.Lease // the server's last response; nil at first
}

var _ Interface = &LeaseLock{}

// Get reads the Lease and returns its record and the record's JSON.
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

// Create creates the Lease.
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

// Update writes the Lease that was read or written last. The server rejects it if the Lease has
// changed since.
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

// RecordEvent records a normal event about the Lease with the reason LeaderElection. The message is
// the candidate's name and s.
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

// Describe returns "namespace/name" of the Lease.
func (ll *LeaseLock) Describe() string { return ll.LeaseMeta.Namespace + "/" + ll.LeaseMeta.Name }

// Identity returns the Identity of LockConfig.
func (ll *LeaseLock) Identity() string { return ll.LockConfig.Identity }

func (ll *LeaseLock) leases() coordinationv1client.LeaseInterface {
	return ll.Client.Leases(ll.LeaseMeta.Namespace)
}
