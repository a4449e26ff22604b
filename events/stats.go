package events

// DropReason is the reason why an event was dropped.
type DropReason uint8

const (
	// Invalid: the event has no object of a known kind and name, no reason, an unknown type, or
	// too many annotations.
	Invalid DropReason = iota
	// Throttled: there were too many events about one object.
	Throttled
	// Full: as many different events as Options.MaxSeries wait to be sent.
	Full
	// Forbidden: the server refused the event (403), because permission is missing or the namespace
	// is being deleted.
	Forbidden
	// NoNamespace: the namespace does not exist, or the server has no Events of this API.
	NoNamespace
	// Rejected: the server refused the event for another reason, such as its content.
	Rejected
	// Expired: the event could not be sent for an hour.
	Expired
	// Ended: Run ended before the event was sent, or had ended before the event was recorded.
	Ended

	numDropReasons = iota
)

// String is the name of the reason in lower case.
func (d DropReason) String() string {
	if d < numDropReasons {
		return [numDropReasons]string{"invalid", "throttled", "full", "forbidden", "no namespace", "rejected", "expired", "ended"}[d]
	}
	return "unknown"
}

// Stats has the counters of a Recorder. The counters count events unless a comment says otherwise.
type Stats struct {
	// Recorded is the number of recorded events, including invalid ones.
	Recorded uint64

	// Sent is the number of events that the server has counted.
	Sent uint64

	// Waiting is the number of events that wait to be sent, or for the server's response.
	Waiting uint64

	// Dropped is the number of dropped events, by reason.
	Dropped [numDropReasons]uint64

	// Series is the number of different events that the Recorder remembers.
	Series int

	// Created and Updated count successful requests, and Failures failed ones.
	Created, Updated, Failures uint64

	// Failing is the error of the last request, or nil if the request succeeded or the server
	// refused the event.
	Failing error
}

// DroppedTotal is the sum of Dropped.
func (s Stats) DroppedTotal() (total uint64) {
	for _, n := range s.Dropped {
		total += n
	}
	return total
}

// Stats returns a snapshot. For a nil Recorder the snapshot is zero.
func (r *Recorder) Stats() Stats {
	if r == nil {
		return Stats{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	stats := r.stats
	stats.Series = r.count
	return stats
}
