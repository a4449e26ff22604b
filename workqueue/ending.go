package workqueue

// Turns counts turns by how they have ended, each once.
type Turns struct {
	// Succeeded are those without a result; RequeuedAfter and RequeuedWhen those that wished
	// for another turn, see these functions; Retried those that failed and are tried again,
	// rate-limited; Dropped those that failed and are not, see Drop; and Interrupted those that
	// returned an error because their context had ended.
	Succeeded, RequeuedAfter, RequeuedWhen, Retried, Dropped, Interrupted uint64
}

// ending is how a turn has ended.
type ending uint8

const (
	byHand ending = iota // by a call of Done, which does not say
	succeeded
	requeuedAfter
	requeuedWhen
	retried
	droppedForGood
	cutShort

	waysToEnd = iota
)

// turnsLocked are the turns of Run by how they have ended.
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
