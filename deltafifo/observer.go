package deltafifo

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Observer is a set of hooks that run when something goes into a queue or out of
// it. Any of them may be nil. They run in the goroutine that caused them, after
// the fact and without any lock held, so they may call the queue's own methods
// but Pop; the caller waits for them. Since they run after the fact, a batch may
// be reported just before the last of its deltas. With several producers they
// must be safe for concurrent use.
type Observer struct {
	// OnDelta is called for each delta: by Add, Update, Delete and Replace for
	// those that they put in, including those that were then merged, and by Pop
	// for tombstones and resyncs that it computes.
	OnDelta func(key types.NamespacedName, t DeltaType, resourceVersion string)

	// OnBatch is called by Pop for each batch that it is about to return.
	OnBatch func(BatchInfo)
}

// BatchInfo describes a [Batch] to an [Observer].
type BatchInfo struct {
	Keys, Deltas      int
	ResourceVersion   string
	Replaced, Initial bool

	// Waited is how long the oldest part of the batch had been pending.
	Waited time.Duration
}

func (o *Observer) delta(key types.NamespacedName, t DeltaType, resourceVersion string) {
	if o != nil && o.OnDelta != nil {
		o.OnDelta(key, t, resourceVersion)
	}
}

func (o *Observer) batch(info BatchInfo) {
	if o != nil && o.OnBatch != nil {
		o.OnBatch(info)
	}
}
