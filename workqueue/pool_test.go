package workqueue

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// Not parallel, because it disables garbage collection.
func TestAPoolKeepsManySparesUntilTheNextCollection(t *testing.T) { // WQ-7
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC() // a collection in progress would end within the test
	const many = 5 * maxSpares
	var p pool[[64]byte]
	take := func() map[*[64]byte]bool {
		taken := make(map[*[64]byte]bool)
		for range many {
			taken[p.get()] = true
		}
		require.Len(t, taken, many, "each is handed out once")
		return taken
	}
	first := take()
	for one := range first {
		p.put(one)
	}
	require.Equal(t, first, take(), "get must not allocate while spares are left")
	for one := range first {
		p.put(one)
	}
	runtime.GC()
	require.Nil(t, p.extra.Value())
	require.LessOrEqual(t, len(p.spare), maxSpares)
	known := 0
	for one := range take() {
		if first[one] {
			known++
		}
	}
	require.LessOrEqual(t, known, maxSpares)
}
