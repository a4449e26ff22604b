package informer

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// big is an object that is not allocated together with others.
type big [1 << 10]byte

// A mailbox whose reader is behind keeps the newest event of each key in memory, and nothing else
// of the batches.
func TestMailboxOfASlowHandlerRetainsNoWholeBatches(t *testing.T) {
	t.Parallel()
	a, b := types.NamespacedName{Name: "a"}, types.NamespacedName{Name: "b"}
	check := func(when string, full int) {
		m := newMailbox[*big](full, Coalesce, nil, nil)
		m.post([]Event[*big]{{Type: Added, Key: types.NamespacedName{Name: "c"}}}, time.Now())
		merged := new(big)
		watched := weak.Make(merged)
		m.post([]Event[*big]{{Type: Added, Key: a}, {Type: Added, Key: b, New: merged}}, time.Now())
		m.post([]Event[*big]{{Type: Updated, Key: b, Old: merged, New: new(big)}}, time.Now())
		merged = nil
		runtime.GC()
		require.True(t, watched.Value() == nil, when)
		runtime.KeepAlive(m)
	}
	check("it was behind when the batch came", 1)
	check("it fell behind later", 3)
}
