package deltafifo

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Observer is a set of hooks; each may be nil. A method of the queue calls them after its work, in
// the goroutine of its caller, with no lock held. The hooks delay this goroutine, and may call all
// methods of the queue except Pop. Because hooks run after the work, OnBatch may be called just
// before OnDelta for the last deltas of the batch. With several producers, hooks must be safe for
// concurrent use.
type Observer struct {
	// OnDelta is called for each delta. Add, Update, Delete and Replace call it for the deltas that
	// they queue, merged ones included. Pop calls it for the tombstones and Syncs that it adds.
	OnDelta func(key types.NamespacedName, t DeltaType, resourceVersion string)

	// OnBatch is called by Pop for each batch, just before Pop returns it.
	OnBatch func(BatchInfo)
}

// BatchInfo describes a [Batch] to an [Observer].
type BatchInfo struct {
	Keys, Deltas      int
	ResourceVersion   string
	Replaced, Initial bool

	// Waited is how long the oldest delta of the batch was pending.
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
