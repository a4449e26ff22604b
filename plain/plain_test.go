package plain_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/kinform/kinform/internal/testing/conformance"
	subject "github.com/kinform/kinform/internal/testing/conformance/plain"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStore(t *testing.T) {
	conformance.TestStore(t, subject.NewStore, conformance.Differences{
		"an index that is added has what is stored": "IX-11: indexes are given when the store is made",
		"the version is that of the replace":        "IX-16: the store has no version, the informer has",
		"the version never goes down":               "IX-16, D15: the store has no version, the informer has",
	})
}

func TestQueue(t *testing.T) {
	conformance.TestQueue(t, subject.NewQueue, conformance.Differences{
		"a key that is busy does not fill the memory": "DF-3: nothing but deletions is merged",
	})
}

func TestInformer(t *testing.T) {
	conformance.TestInformer(t, subject.NewInformer, conformance.Differences{
		"a relist is applied atomically":                   conformance.ByChance + "PD-5: it is as many steps as it has changes",
		"transformed objects are stored and delivered":     "SI-30: there are no transforms",
		"an object is transformed once":                    "D23: there are no transforms",
		"a transform may drop the version":                 "D12: there are no transforms",
		"a handler that is stuck does not fill the memory": "SI-9, D24: its ring has no bound",
		"a resync notifies due handlers of every object":   "SI-26: one period for all handlers",
	})
}
