package deltafifo

import "math"

// Options are the optional settings of a queue. The zero value is ready to use.
type Options struct {
	// MaxDeltasPerKey is the number of deltas beyond which a key's stack is
	// compressed, so that it has three more at most, whatever happens to the key:
	//
	//   - The newest two states of an object become one, the newer.
	//   - An object that was created after a Deleted and is deleted now, all of it
	//     before anybody popped, has never been: the Deleted before it stands for both.
	//
	// The first and the newest delta always stay, and so do the first Deleted and the
	// delta that creates the object that exists now. A consumer thus learns that the
	// object which it knew is gone, with the last state of that one, and that the one
	// it is given is another; what it is not told of are objects that came and went
	// in between.
	//
	// Keys that came and went are forgotten altogether, if the consumer never heard
	// of them, whenever as many Deletes were told as this number, and as half of all
	// keys that are pending.
	//
	// Defaults to 64: a burst of ordinary size stays complete, and a consumer that
	// is 64 updates of one object behind has no use for all of them, while one
	// busy Lease must not fill the memory. Negative means no bound, as in client-go
	// (DF-3). 1 means 2, the first and the newest.
	MaxDeltasPerKey int

	// Observer is told what goes in and out. Defaults to nil: nobody.
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
