package resourcelock

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// LeaseSpecToLeaderElectionRecord converts the spec of a Lease to a record. Absent fields become
// zero.
func LeaseSpecToLeaderElectionRecord(spec *coordinationv1.LeaseSpec) *LeaderElectionRecord {
	return &LeaderElectionRecord{
		HolderIdentity:       ptr.Deref(spec.HolderIdentity, ""),
		LeaseDurationSeconds: int(ptr.Deref(spec.LeaseDurationSeconds, 0)),
		AcquireTime:          metav1.Time{Time: ptr.Deref(spec.AcquireTime, metav1.MicroTime{}).Time},
		RenewTime:            metav1.Time{Time: ptr.Deref(spec.RenewTime, metav1.MicroTime{}).Time},
		LeaderTransitions:    int(ptr.Deref(spec.LeaseTransitions, 0)),
		Strategy:             ptr.Deref(spec.Strategy, ""),
		PreferredHolder:      ptr.Deref(spec.PreferredHolder, ""),
	}
}

// LeaderElectionRecordToLeaseSpec converts a record to the spec of a Lease. It sets strategy and
// preferred holder only if the record has them.
func LeaderElectionRecordToLeaseSpec(ler *LeaderElectionRecord) coordinationv1.LeaseSpec {
	spec := coordinationv1.LeaseSpec{
		HolderIdentity:       ptr.To(ler.HolderIdentity),
		LeaseDurationSeconds: ptr.To(int32(ler.LeaseDurationSeconds)),
		AcquireTime:          &metav1.MicroTime{Time: ler.AcquireTime.Time},
		RenewTime:            &metav1.MicroTime{Time: ler.RenewTime.Time},
		LeaseTransitions:     ptr.To(int32(ler.LeaderTransitions)),
	}
	if ler.Strategy != "" {
		spec.Strategy = ptr.To(ler.Strategy)
	}
	if ler.PreferredHolder != "" {
		spec.PreferredHolder = ptr.To(ler.PreferredHolder)
	}
	return spec
}
