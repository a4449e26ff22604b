// Package conformance runs kinform's contract suites on client-go. They check kinform's claims
// about which contracts client-go keeps, and which it breaks. With the replace directive for module
// clientgo, they run on that module:
//
//	go test -modfile=dropin.mod -tags=dropin ./conformance
package conformance

import (
	"testing"

	"github.com/kinform/kinform/bench/clientgo"
	"github.com/kinform/kinform/internal/testing/conformance"
)

func TestIndexer(t *testing.T) {
	conformance.TestStore(t, clientgo.NewStore, differences{
		"an index function that fails is an error and changes nothing":    "IX-6, D13: it panics",
		"the values of an unknown index are an error":                     "IX-10: there are none",
		"the version never goes down":                                     "IX-16, D15: it is that of the last write",
		"an object that is changed in place leaves no trace in the index": "IX-3, D14: the old values are computed again",
	}.without("an object that is changed in place leaves no trace in the index"))
}

func TestDeltaFIFO(t *testing.T) {
	conformance.TestQueue(t, clientgo.NewDeltaFIFO, conformance.Differences{
		"a key that is busy does not fill the memory": "DF-3: nothing else is merged",
		"a closed queue accepts nothing":              "DF-13: only its consumer is told",
		"single changes don't sync":                   "DF-25: it has synced, having been told to expect nothing",
	})
}

func TestRealFIFO(t *testing.T) {
	conformance.TestQueue(t, clientgo.NewRealFIFO, conformance.Differences{
		"two deletes in a row are one":                       "RF-1: nothing is merged",
		"a key that is busy does not fill the memory":        "RF-1: nothing is merged",
		"the delete of an unknown object is dropped":         "RF-3, D16: deletes are always queued",
		"a replace queues existing objects before deletions": "RF-8: tombstones come first",
		"a closed queue accepts nothing":                     "RF-7: only its consumer is told",
		"single changes don't sync":                          "RF-12: as DF-25",
	})
}

func TestSharedIndexInformer(t *testing.T) {
	conformance.TestInformer(t, clientgo.NewInformer, differences{
		"an object is transformed once":                        "RC-17, D23: twice, in a streaming list",
		"a transform may drop the version":                     "SI-12, SI-13, D12: an update then looks like a resync",
		"a relist delivers no unchanged object":                "SI-13, D11: it does, where no resync was asked for",
		"a repeated event is delivered once":                   "SI-13, PD-3, D16: it is told twice, deletions as well",
		"a handler that is stuck does not fill the memory":     "SI-9, D24: its buffer has no bound",
		"a handler that panics goes on, and is synced":         "SI-14, D10: it is never synced",
		"relists don't starve a resync":                        "RC-31, D22: its time begins anew with each watch",
		"a stop ends every wait":                               "RC-18, D5: not that of a streaming list",
		"a streaming list without an end falls back to a list": "RC-18, D6: it is waited for for ever",
		"a stream that fails is reported":                      "RC-27, D7: only in the log",
		"waits do not become short under constant failure":     "RC-3, D8: every two minutes it is",
	}.without(
		"an object is transformed once",
		"a transform may drop the version",
		"a handler that panics goes on, and is synced",
		"relists don't starve a resync",
		"a stop ends every wait",
	))
}
