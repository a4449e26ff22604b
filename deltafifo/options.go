package deltafifo

import "math"

// Options are the optional settings of a queue. The zero value is ready to use.
type Options struct {
	// MaxDeltasPerKey is the number of deltas of a key beyond which the queue merges deltas. The
	// key's stack then gets three more deltas at most:
	//
	//   - Of an object's two newest states, the queue keeps only the newer one.
	//   - If an object was created after a Deleted, and is deleted before the next Pop, the earlier
	//     Deleted stands for both deletions.
	//
	// The first and the newest delta always stay, and so do the first Deleted and the delta that
	// creates the present object. So a consumer gets the deletion of its object, with the object's
	// last state, and the creation of the present object. The consumer gets no delta of objects
	// that were created and deleted in between. If an object was created and deleted before the
	// consumer received it, the queue removes its key. It searches for such keys when the number of
	// Deletes has reached both MaxDeltasPerKey and half of all pending keys.
	//
	// Defaults to 64, so that a burst of ordinary size stays complete. A consumer that is 64
	// updates of one object behind does not need all of them, and one busy Lease must not fill the
	// memory. A negative number means no limit, as in client-go (DF-3). 1 has the effect of 2: the
	// first and the newest delta stay.
	MaxDeltasPerKey int

	// Observer has the hooks that the queue calls for each delta and batch. Defaults to nil.
	Observer *Observer
}

func (o Options) maxDeltasPerKey() int {
	switch {
	case o.MaxDeltasPerKey == 0:
		return 64
	case o.MaxDeltasPerKey < 0:
		return math.MaxInt
	default:
		return max(o.MaxDeltasPerKey, 2)
	}
}
