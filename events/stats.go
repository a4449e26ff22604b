package events

// Drop is why an event was dropped.
type Drop uint8

const (
	// Invalid: it has no object, or none whose kind and name are known, no reason,
	// or an unknown type.
	Invalid Drop = iota
	// Throttled: there were too many about one object.
	Throttled
	// Full: as many events wait to be sent as can be remembered.
	Full
	// Forbidden: the server refused it (403), for rights are missing or the namespace
	// is being deleted.
	Forbidden
	// NoNamespace: there is no such namespace, or the server has no Events of this API.
	NoNamespace
	// Rejected: the server refused it for another reason, such as its content.
	Rejected
	// Expired: for an hour it could not be sent.
	Expired
	// Ended: Run ended before it could be sent, or had ended before it was recorded.
	Ended

	drops = iota
)

// String is the name of the reason in lower case.
func (d Drop) String() string {
	if d < drops {
		return [drops]string{"invalid", "throttled", "full", "forbidden", "no namespace", "rejected", "expired", "ended"}[d]
	}
	return "unknown"
}

// Stats is a snapshot of a Recorder. The counts are of events, not of requests, where
// nothing else is said.
type Stats struct {
	// Recorded is how many were recorded, valid or not.
	Recorded uint64

	// Sent is how many the server has counted.
	Sent uint64

	// Waiting is how many wait to be sent, those that are being sent included.
	Waiting uint64

	// Dropped is how many were dropped, by reason.
	Dropped [drops]uint64

	// Series is how many different events are remembered.
	Series int

	// Created and Updated are how many requests have succeeded, and Failures how many have
	// failed.
	Created, Updated, Failures uint64

	// Failing is the error of the last request, nil if that succeeded or was refused for
	// good.
	Failing error
}

// DroppedTotal is the sum of Dropped.
func (s Stats) DroppedTotal() (total uint64) {
	for _, n := range s.Dropped {
		total += n
	}
	return total
}

// Stats returns a snapshot. A nil Recorder has none.
func (r *Recorder) Stats() Stats {
	if r == nil {
		return Stats{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	stats := r.stats
	stats.Series = len(r.known)
	return stats
}
