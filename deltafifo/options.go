package deltafifo

import "math"

// Options are the optional settings of a queue. The zero value is ready to use.
type Options struct {
	// MaxDeltasPerKey is the number of deltas beyond which the queue merges deltas of a
	// key, so that its stack gets three more at most:
	//
	//   - The newer one of an object's newest two states takes the place of both.
	//   - If an object was created after a Deleted, and is deleted before the next Pop, the
	//     Deleted before it stands for both.
	//
	// The first and the newest delta always stay. So do the first Deleted, and the delta
	// that creates the present object. So a consumer learns that the object that it has is
	// gone, with its last state, and that the present object is another one. It does not
	// hear of objects that came and went in between.
	//
	// If the consumer never heard of a key that came and went, the queue forgets the key.
	// It looks for such keys when it has got as many Deletes as this number, and as half
	// of all pending keys.
	//
	// Defaults to 64: a burst of ordinary size stays complete. A consumer that is 64
	// updates of one object behind does not need all of them, and one busy Lease must not
	// fill the memory. Negative means no bound, as in client-go (DF-3). 1 means 2: the
	// first and the newest.
	MaxDeltasPerKey int

	// Observer has functions that the queue calls for each delta and batch. Defaults to
	// nil.
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
