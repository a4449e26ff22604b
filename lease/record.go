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
	acquired    time.Time // like renewed, by another clock: compared only for equality
	renewed     time.Time
	transitions int32
	writer      string // the Elector that wrote holder and acquired; "" if unknown
}

// writerAnnotation is the annotation of a Lease that stores record.writer. Candidates with one
// identity may write at the same microsecond, and then no field of the specification distinguishes
// them.
const writerAnnotation = "kinform.io/lease-writer"

// recordOf reads the record of a Lease.
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
		r.acquired = truncateMicro(spec.AcquireTime.Time)
	}
	if spec.RenewTime != nil {
		r.renewed = truncateMicro(spec.RenewTime.Time)
	}
	if spec.LeaseTransitions != nil && *spec.LeaseTransitions > 0 {
		r.transitions = *spec.LeaseTransitions
	}
	return r
}

// write writes r into lease. Other fields are unchanged: those of coordinated leader election, and
// all metadata except labels and one annotation.
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

// equal reports whether two records are equal. It ignores the writer, because a server may drop the
// annotation. Times are compared as moments.
func (r record) equal(other record) bool {
	return r.holder == other.holder && r.duration == other.duration && r.transitions == other.transitions &&
		r.acquired.Equal(other.acquired) && r.renewed.Equal(other.renewed)
}

// nextTransitions returns the number of transitions once the holder has changed again. The number
// never decreases.
func (r record) nextTransitions() int32 {
	if r.transitions == math.MaxInt32 {
		return r.transitions
	}
	return r.transitions + 1
}

// truncateMicro rounds a time to the precision of a Lease.
func truncateMicro(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// writeTime returns the time for a write. The time differs from the time of the previous write,
// even if the clock was set back. A server ignores a write without a change, and other candidates
// would not see a renewal.
func writeTime(before time.Time) time.Time {
	if now := truncateMicro(time.Now()); !now.Equal(before) {
		return now
	}
	return before.Add(time.Microsecond)
}
