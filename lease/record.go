package lease

import (
	"maps"
	"math"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// record has the fields of a Lease about its holder. Missing and invalid fields are zero.
type record struct {
	holder      string
	duration    time.Duration
	acquired    time.Time // like renewed, in microseconds of another clock: compared for equality only
	renewed     time.Time
	transitions int32
	writer      string // of the Elector that wrote holder and acquired; "" if that is not known
}

// writerAnnotation is the annotation of a Lease that has record.writer. Candidates with one identity may
// write at the same microsecond, so that no field of the specification tells them apart.
const writerAnnotation = "kinform.io/lease-writer"

// recordOf reads a Lease.
func recordOf(lease *coordinationv1.Lease) (r record) {
	spec := &lease.Spec
	r.writer = lease.Annotations[writerAnnotation]
	if spec.HolderIdentity != nil {
		r.holder = *spec.HolderIdentity
	}
	if spec.LeaseDurationSeconds != nil && *spec.LeaseDurationSeconds > 0 {
		r.duration = time.Duration(*spec.LeaseDurationSeconds) * time.Second
	}
	if spec.AcquireTime != nil {
		r.acquired = micro(spec.AcquireTime.Time)
	}
	if spec.RenewTime != nil {
		r.renewed = micro(spec.RenewTime.Time)
	}
	if spec.LeaseTransitions != nil && *spec.LeaseTransitions > 0 {
		r.transitions = *spec.LeaseTransitions
	}
	return r
}

// write writes r into lease. Other fields stay: those of coordinated leader election, and all
// metadata except labels and one annotation.
func (r record) write(lease *coordinationv1.Lease, labels map[string]string) {
	seconds := int32(r.duration / time.Second)
	spec := &lease.Spec
	spec.HolderIdentity = &r.holder
	spec.LeaseDurationSeconds = &seconds
	spec.AcquireTime = &metav1.MicroTime{Time: r.acquired}
	spec.RenewTime = &metav1.MicroTime{Time: r.renewed}
	spec.LeaseTransitions = &r.transitions
	if len(labels) > 0 && lease.Labels == nil {
		lease.Labels = map[string]string{}
	}
	maps.Copy(lease.Labels, labels)
	if r.writer == "" {
		delete(lease.Annotations, writerAnnotation)
		return
	}
	if lease.Annotations == nil {
		lease.Annotations = map[string]string{}
	}
	lease.Annotations[writerAnnotation] = r.writer
}

// same reports whether two records are equal, except for the writer, which a server may not keep. Times
// are compared as moments.
func (r record) same(other record) bool {
	return r.holder == other.holder && r.duration == other.duration && r.transitions == other.transitions &&
		r.acquired.Equal(other.acquired) && r.renewed.Equal(other.renewed)
}

// after returns the number of transitions after one more. It never goes down.
func (r record) after() int32 {
	if r.transitions == math.MaxInt32 {
		return r.transitions
	}
	return r.transitions + 1
}

// micro is a time as a Lease can say it.
func micro(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// stamp returns the time of a write. It differs from that of the write before, even if the clock
// was set back since: a server ignores a write that changes nothing, and other candidates would
// not see it.
func stamp(before time.Time) time.Time {
	if now := micro(time.Now()); !now.Equal(before) {
		return now
	}
	return before.Add(time.Microsecond)
}
