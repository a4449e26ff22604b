package view

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
)

// A view allocates nothing for a handler call, with or without viewers. This is also true if the
// user has set Sample. Only if both samples observe the call, it costs one allocation, for the
// combined function.
func TestSampleObserverAllocations(t *testing.T) {
	info := informer.DeliverInfo{Handler: "enqueue", Type: informer.Updated, Cause: informer.Watch, Key: types.NamespacedName{Namespace: "shop", Name: "till"}}
	heard := 0
	hears := func(informer.DeliverInfo) { heard++ }
	wanted := func(types.NamespacedName) func(informer.DeliverInfo) { return hears }
	unwanted := func(types.NamespacedName) func(informer.DeliverInfo) { return nil }
	for _, test := range []struct {
		name        string
		users       func(types.NamespacedName) func(informer.DeliverInfo)
		looks       bool
		hears       bool
		allocations float64
	}{
		{"alone", nil, true, false, 0},
		{"the user's sample observes the call, no viewers", wanted, false, true, 0},
		{"the user's sample observes other calls", unwanted, true, false, 0},
		{"both samples observe the call", wanted, true, true, 1},
	} {
		rec := newRecorder("maps", time.Now())
		if test.looks {
			rec.viewers.Add(1)
			rec.ring.refill()
		}
		sample := rec.sampleObserver(test.users)
		heard = 0
		allocations := testing.AllocsPerRun(1000, func() {
			if tell := sample(info.Key); tell != nil {
				tell(info)
			}
		})
		require.Equal(t, test.allocations, allocations, test.name)
		require.Equal(t, test.hears, heard > 0, test.name)
		require.Equal(t, test.looks, rec.ring.newest() > 0, test.name)
	}
}
