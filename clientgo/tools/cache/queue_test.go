package cache

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func popAll(t *testing.T, q Queue, n int) (all []Delta) {
	t.Helper()
	for range n {
		_, err := q.Pop(func(obj interface{}, _ bool) error {
			all = append(all, obj.(Deltas)...)
			return nil
		})
		require.NoError(t, err)
	}
	q.Close()
	_, err := q.Pop(nil)
	require.ErrorIs(t, err, ErrFIFOClosed, "the queue must have only %d items", n)
	return all
}

// DF-3, DF-6, DF-16 to DF-22, DF-27
func TestDeltaFIFO(t *testing.T) {
	known := NewStore(MetaNamespaceKeyFunc)
	gone, a, b := testPod("", "gone", "1"), testPod("", "a", "2"), testPod("", "b", "3")
	require.NoError(t, known.Add(gone))
	q := NewDeltaFIFOWithOptions(DeltaFIFOOptions{KnownObjects: known, EmitDeltaTypeReplaced: true})
	require.False(t, q.HasSynced())
	require.NoError(t, q.Replace([]interface{}{a, b}, ""))
	require.NoError(t, q.Delete(testPod("", "nobody", "")))
	require.NoError(t, q.Delete(a))
	require.NoError(t, q.Delete(a))
	require.False(t, q.HasSynced())
	require.Equal(t, []Delta{{Replaced, a}, {Deleted, a}, {Replaced, b},
		{Deleted, DeletedFinalStateUnknown{Key: "gone", Obj: gone}}}, popAll(t, q, 3))
	require.True(t, q.HasSynced())
	require.True(t, IsDone(q.HasSyncedChecker()))
	_, err := q.KeyOf(Deltas{})
	require.ErrorIs(t, err, ErrZeroLengthDeltasObject)
}

// DF-23, DF-25
func TestDeltaFIFOResync(t *testing.T) {
	known := NewStore(MetaNamespaceKeyFunc)
	a, b := testPod("", "a", "1"), testPod("", "b", "1")
	require.NoError(t, known.Replace([]interface{}{a, b}, ""))
	q := NewDeltaFIFO(MetaNamespaceKeyFunc, known)
	require.NoError(t, q.Update(a))
	require.True(t, q.HasSynced())
	require.NoError(t, q.Resync())
	require.Equal(t, []Delta{{Updated, a}, {Sync, b}}, popAll(t, q, 2))
}

// RF-3, RF-8 to RF-10, RF-12, RF-21
func TestRealFIFO(t *testing.T) {
	known := NewStore(MetaNamespaceKeyFunc)
	gone, a, b := testPod("", "gone", "1"), testPod("", "a", "2"), testPod("", "b", "3")
	require.NoError(t, known.Add(gone))
	q := NewRealFIFO(MetaNamespaceKeyFunc, known, nil)
	require.NoError(t, q.Add(b))
	require.NoError(t, q.Delete(a))
	require.NoError(t, q.Replace([]interface{}{a}, ""))
	require.Equal(t, []Delta{{Added, b}, {Deleted, a}, {Deleted, DeletedFinalStateUnknown{Key: "b", Obj: b}},
		{Deleted, DeletedFinalStateUnknown{Key: "gone", Obj: gone}}, {Replaced, a}}, popAll(t, q, 5))
}

// RF-15 to RF-19, RF-22, RF-23
func TestRealFIFOAtomic(t *testing.T) {
	require.Panics(t, func() { NewRealFIFO(MetaNamespaceKeyFunc, nil, nil) })
	q := NewRealFIFOWithOptions(RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true})
	require.NoError(t, q.Replace(nil, "5"))
	require.False(t, q.HasSynced())
	a, b := testPod("", "a", "2"), testPod("", "b", "3")
	for _, obj := range []interface{}{a, b, a} {
		require.NoError(t, q.Update(obj))
	}
	var sizes []int
	for range 3 {
		require.NoError(t, q.PopBatch(func(deltas []Delta, initial bool) error {
			require.False(t, initial)
			sizes = append(sizes, len(deltas))
			return q.Bookmark("9") // the queue is not locked
		}, func(obj interface{}, initial bool) error {
			require.Equal(t, len(sizes) == 0, initial)
			require.Equal(t, len(sizes) > 0, q.HasSynced())
			sizes = append(sizes, len(obj.(Deltas)))
			return nil
		}))
	}
	require.Equal(t, []int{1, 2, 1}, sizes)
}
