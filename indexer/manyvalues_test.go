package indexer

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/indexer/internal/versions"
)

// TestAnObjectMayHaveManyValues: the author of an object decides how many index values it has. All
// other writers wait until the object is stored. Eight times as many values must take about eight
// times as long, and not 64 times.
func TestAnObjectMayHaveManyValues(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	versions.Unchecked.Store(true)
	defer versions.Unchecked.Store(false)
	values := func(from, n int) *object {
		o := &object{terms: make([]string, n)}
		for i := range o.terms {
			o.terms[i] = strconv.Itoa(from + i)
		}
		return o
	}
	took := func(n int) time.Duration {
		first, second := values(0, n), values(1, n)
		least := time.Hour
		for range 3 {
			store := newStore(t, byTerm)
			write := func(op Op[*object]) {
				require.NoError(t, apply(store, []Op[*object]{op}, ""))
			}
			began := time.Now()
			for i := range 8 { // eight objects with the same values
				write(put(strconv.Itoa(i), first))
			}
			write(put("0", second))
			snapshot := store.Snapshot()
			write(put("0", first))
			snapshot.Release()
			require.NoError(t, store.AddIndex("other", termsOfObject))
			for i := range 8 {
				write(del(strconv.Itoa(i)))
			}
			least = min(least, time.Since(began))
			requireSound(t, store)
		}
		return least
	}
	// Other load makes a measurement longer, but never shorter, so the minimum counts.
	few, many := time.Hour, time.Hour
	for range 20 {
		few, many = min(few, took(500)), min(many, took(4000))
		if many < 25*few {
			return
		}
	}
	require.Fail(t, "many values take too long", "500 values take %v, 4,000 take %v", few, many)
}
