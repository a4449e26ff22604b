package workqueue

// Outcomes counts runs by their result, each once.
type Outcomes struct {
	// Succeeded counts runs that returned nil. RequeuedAfter and RequeuedWhen count runs that
	// requested another run, see RequeueAfter and RequeueWhen. Retried counts failures that are
	// retried, rate-limited; Dropped counts failures that are not retried, see Drop. Interrupted
	// counts runs that returned an error because their context had ended.
	Succeeded, RequeuedAfter, RequeuedWhen, Retried, Dropped, Interrupted uint64
}

// outcome is how a run ended.
type outcome uint8

const (
	doneByCaller outcome = iota // the caller called Done, which has no result
	succeeded
	requeuedAfter
	requeuedWhen
	retried
	notRetried
	interrupted

	numOutcomes = iota
)

// outcomesLocked returns how many runs of Run ended in each way.
func (q *Queue[K]) outcomesLocked() Outcomes {
	n := &q.outcomes
	return Outcomes{
		Succeeded:     n[succeeded],
		RequeuedAfter: n[requeuedAfter],
		RequeuedWhen:  n[requeuedWhen],
		Retried:       n[retried],
		Dropped:       n[notRetried],
		Interrupted:   n[interrupted],
	}
}
