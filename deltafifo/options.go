package deltafifo

import "math"

// Options are the optional settings of a queue. The zero value is ready to use.
type Options struct {
	// MaxDeltasPerKey is the number of deltas beyond which a key's stack stops
	// growing with updates: the newest two updates become one, with the newer
	// state. The first and the newest delta always stay, and so do every Added,
	// every Deleted, and the delta after it, so that an object that was deleted and
	// created again is seen to have been. The bound is thus one on updates: a key
	// that is deleted and created again and again while nobody pops still grows.
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
