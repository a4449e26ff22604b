package conformance

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// WorkQueue is a rate-limiting work queue of keys, with client-go's method names.
type WorkQueue interface {
	Add(key string)
	AddAfter(key string, d time.Duration)
	AddRateLimited(key string)
	Forget(key string)
	NumRequeues(key string) int
	Len() int
	Get() (key string, shutDown bool)
	Done(key string)
	ShutDown()
	ShutDownWithDrain()
	ShuttingDown() bool
}

// These are the settings of a WorkQueue's rate limiter, which doubles the delay of a key with each
// failure.
const (
	FirstRetry  = time.Second
	LatestRetry = time.Hour
)

// TestWorkQueue runs the cases. The cases in differences must fail, and all others must pass.
func TestWorkQueue(t *testing.T, open func() WorkQueue, differences Differences) {
	names := map[string]bool{}
	for _, c := range workQueueCases {
		names[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			failure := c.attempt(t, open)
			reason, different := differences[c.name]
			switch {
			case different && failure == "":
				t.Errorf("the case passes, although it is listed as a difference: %s", reason)
			case different:
				first, _, _ := strings.Cut(failure, "\n")
				t.Logf("differs (%s): %s", reason, first)
			case failure != "":
				t.Error(failure)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(differences)) {
		if !names[name] {
			t.Errorf("there is no case %q, so it can't be a difference", name)
		}
	}
}

// attempt runs the case in virtual time, and returns the failure of the queue, or "".
func (c workQueueCase) attempt(t *testing.T, open func() WorkQueue) (failure string) {
	synctest.Test(t, func(*testing.T) {
		r := &workQueueRig{WorkQueue: open()}
		r.try(c.run)
		r.end()
		failure = r.failure
	})
	return failure
}
