package workqueue

// Turns counts runs by their result, each once.
type Turns struct {
	// Succeeded counts runs without a result. RequeuedAfter and RequeuedWhen count runs that
	// requested another run, see RequeueAfter and RequeueWhen. Retried counts failures that are
	// retried, rate-limited; Dropped counts failures that are not retried, see Drop. Interrupted
	// counts runs that returned an error because their context had ended.
	Succeeded, RequeuedAfter, RequeuedWhen, Retried, Dropped, Interrupted uint64
}

// ending is how a run ended.
type ending uint8

const (
	byHand ending = iota // by a call of Done, without a result
	succeeded
	requeuedAfter
	requeuedWhen
	retried
	droppedForGood
	cutShort

	waysToEnd = iota
)

// turnsLocked returns the counts for Run by how the runs ended.
func (q *Queue[K]) turnsLocked() Turns {
	n := &q.endings
	return Turns{
		Succeeded:     n[succeeded],
		RequeuedAfter: n[requeuedAfter],
		RequeuedWhen:  n[requeuedWhen],
		Retried:       n[retried],
		Dropped:       n[droppedForGood],
		Interrupted:   n[cutShort],
	}
}
