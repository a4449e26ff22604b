package contracts

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// queue is a DeltaFIFO together with the store of its known objects.
type queue struct {
	*cache.DeltaFIFO
	known cache.Store
}

func newQueue(transform cache.TransformFunc) queue {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	return queue{cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known, EmitDeltaTypeReplaced: true, Transformer: transform}), known}
}

// popRest closes a queue and returns everything that is left in it.
func popRest(t *testing.T, q cache.Queue) (all []cache.Deltas) {
	q.Close()
	for {
		obj, err := q.Pop(func(any, bool) error { return nil })
		if errors.Is(err, cache.ErrFIFOClosed) {
			return all
		}
		require.NoError(t, err)
		all = append(all, obj.(cache.Deltas))
	}
}

// DF-1, DF-2, DF-9: each key has one place in the queue, with all of its deltas.
func TestDeltaFIFOKeepsThePositionOfAKey(t *testing.T) {
	q := newQueue(nil)
	a1, b2, a3, a4 := pod("a", "1"), pod("b", "2"), pod("a", "3"), pod("a", "4")
	require.NoError(t, q.Add(a1))
	require.NoError(t, q.Add(b2))
	require.NoError(t, q.Update(a3))
	require.NoError(t, q.Delete(a4))
	require.Equal(t, []cache.Deltas{{d(cache.Added, a1), d(cache.Updated, a3), d(cache.Deleted, a4)}, {d(cache.Added, b2)}}, popRest(t, q))
}

// DF-3: two consecutive deletions are merged into one. Other deltas are not merged.
func TestDeltaFIFOMergesDeletionsOnly(t *testing.T) {
	first, second := pod("a", "1"), pod("a", "2")
	for name, c := range map[string]struct{ queued, kept []any }{
		"the older object":              {[]any{first, second}, []any{first}},
		"an object, not a tombstone":    {[]any{gone(first), second}, []any{second}},
		"the object before a tombstone": {[]any{first, gone(second)}, []any{first}},
		"the newer of two tombstones":   {[]any{gone(first), gone(second)}, []any{gone(second)}},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(nil)
			require.NoError(t, q.known.Add(first))
			for _, obj := range c.queued {
				require.NoError(t, q.Delete(obj))
			}
			var kept []any
			for _, delta := range popRest(t, q)[0] {
				kept = append(kept, delta.Object)
			}
			require.Equal(t, c.kept, kept)
		})
	}
	q := newQueue(nil)
	require.NoError(t, q.known.Add(first))
	require.NoError(t, q.Update(first))
	require.NoError(t, q.Update(first))
	require.NoError(t, q.Delete(first))
	require.NoError(t, q.Add(first))
	require.Len(t, popRest(t, q)[0], 4)
}

// DF-4, DF-5, RF-4
func TestKeysOfQueues(t *testing.T) {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	delta := newQueue(nil)
	for _, obj := range []any{pod("a", "1"), gone(pod("a", "1")), cache.Deltas{d(cache.Added, pod("b", "1")), d(cache.Deleted, gone(pod("a", "1")))}} {
		key, err := delta.KeyOf(obj)
		require.NoError(t, err)
		require.Equal(t, "ns/a", key)
	}
	_, err := delta.KeyOf(cache.Deltas{})
	require.ErrorIs(t, err, cache.ErrZeroLengthDeltasObject)
	require.ErrorAs(t, err, &cache.KeyError{})
	for _, q := range []cache.Queue{delta, cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, known, nil)} {
		for _, err := range []error{q.Add(1), q.Update(1), q.Delete(1), q.Add(cache.Deltas{})} {
			require.ErrorAs(t, err, &cache.KeyError{})
		}
		require.Empty(t, popRest(t, q))
	}
}

// DF-6, DF-7
func TestDeltaFIFODropsTheDeleteOfAnUnknownObject(t *testing.T) {
	q := newQueue(nil)
	require.NoError(t, q.Delete(pod("unknown", "1")))
	require.NoError(t, q.Add(pod("pending", "1")))
	require.NoError(t, q.Delete(pod("pending", "2")))
	require.Equal(t, []cache.Deltas{{d(cache.Added, pod("pending", "1")), d(cache.Deleted, pod("pending", "2"))}}, popRest(t, q))
	broken := cache.NewDeltaFIFO(cache.MetaNamespaceKeyFunc, &cache.FakeCustomStore{
		GetByKeyFunc: func(string) (any, bool, error) { return nil, false, errors.New("broken") }})
	require.NoError(t, broken.Delete(pod("perhaps", "1")))
	require.Len(t, popRest(t, broken), 1, "the object may exist if the known objects cannot be read")
	alone := cache.NewDeltaFIFO(cache.MetaNamespaceKeyFunc, nil)
	require.NoError(t, alone.Delete(pod("a", "1")))
	require.Empty(t, popRest(t, alone))
}

// DF-8, RF-5: objects of a list are transformed. Tombstones and the objects of a resync are not. If
// the transform fails, nothing is queued.
func TestQueuesTransform(t *testing.T) {
	var seen []any
	refused := errors.New("refused")
	transform := func(obj any) (any, error) {
		seen = append(seen, obj)
		if obj.(*corev1.Pod).Name == "bad" {
			return nil, refused
		}
		return obj, nil
	}
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	delta := newQueue(transform)
	for _, c := range []struct {
		q     cache.Queue
		known cache.Store
	}{{delta, delta.known}, {cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, known, transform), known}} {
		seen = nil
		a, b, k := pod("a", "1"), pod("b", "1"), pod("known", "1")
		require.NoError(t, c.known.Add(k))
		require.NoError(t, c.q.Add(a))
		require.NoError(t, c.q.Update(a))
		require.NoError(t, c.q.Delete(gone(k)))
		require.NoError(t, c.q.Delete(a))
		require.NoError(t, c.q.Replace([]any{b}, ""))
		require.Equal(t, []any{a, a, a, b}, seen)
		require.NoError(t, c.known.Add(pod("other", "1")))
		require.NoError(t, c.q.Resync())
		require.Len(t, seen, 4)
		require.ErrorIs(t, c.q.Add(pod("bad", "1")), refused)
		require.ErrorContains(t, c.q.Replace([]any{pod("bad", "1")}, ""), "refused")
		for _, deltas := range popRest(t, c.q) {
			for _, delta := range deltas {
				if o, ok := delta.Object.(*corev1.Pod); ok {
					require.NotEqual(t, "bad", o.Name)
				}
			}
		}
	}
}

// DF-10, DF-12, DF-14, and RF-2
func TestPopReturnsTheErrorAndDoesNotRequeue(t *testing.T) {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for _, q := range []cache.Queue{newQueue(nil), cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, known, nil)} {
		require.NoError(t, q.Add(pod("a", "1")))
		require.NoError(t, q.Add(pod("b", "1")))
		failed := errors.New("failed")
		obj, err := q.Pop(func(any, bool) error { return failed })
		require.ErrorIs(t, err, failed)
		require.Equal(t, cache.Deltas{d(cache.Added, pod("a", "1"))}, obj)
		require.NoError(t, q.Add(pod("a", "2")))
		require.Equal(t, []cache.Deltas{{d(cache.Added, pod("b", "1"))}, {d(cache.Added, pod("a", "2"))}}, popRest(t, q))
	}
}

// DF-10: producers wait while an object is processed.
func TestTheQueueIsLockedWhileAnObjectIsProcessed(t *testing.T) {
	q := newQueue(nil)
	require.NoError(t, q.Add(pod("a", "1")))
	added := make(chan struct{})
	_, err := q.Pop(func(any, bool) error {
		go func() { _ = q.Add(pod("b", "1")); close(added) }()
		select {
		case <-added:
			return errors.New("it was added meanwhile")
		default:
			return nil
		}
	})
	require.NoError(t, err)
	<-added
}

// DF-13, RF-7
func TestAClosedQueueIsEmptied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := cache.NewStore(cache.MetaNamespaceKeyFunc)
		for _, q := range []cache.Queue{newQueue(nil), cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, known, nil)} {
			var waiting sync.WaitGroup
			for range 3 {
				waiting.Go(func() {
					_, err := q.Pop(func(any, bool) error { return nil })
					require.ErrorIs(t, err, cache.ErrFIFOClosed)
				})
			}
			synctest.Wait()
			q.Close()
			waiting.Wait()
		}
		full := cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, known, nil)
		require.NoError(t, full.Add(pod("a", "1")))
		full.Close()
		require.True(t, full.IsClosed())
		require.NoError(t, full.PopBatch(nil, func(any, bool) error { return nil }))
		require.ErrorIs(t, full.PopBatch(nil, nil), cache.ErrFIFOClosed)
	})
}

// DF-24 to DF-30, DF-11
func TestWhenADeltaFIFOHasSynced(t *testing.T) {
	for name, c := range map[string]struct {
		fill   func(q queue) error
		before bool   // synced before the first pop
		flags  []bool // isInInitialList, and synced in the callback, for each pop
	}{
		"nothing":                      {func(queue) error { return nil }, false, nil},
		"an add":                       {func(q queue) error { return q.Add(pod("a", "1")) }, true, []bool{false, true}},
		"a delete that is dropped":     {func(q queue) error { return q.Delete(pod("a", "1")) }, true, nil},
		"an empty list":                {func(q queue) error { return q.Replace(nil, "") }, true, nil},
		"a list":                       {func(q queue) error { return q.Replace([]any{pod("a", "1"), pod("b", "1")}, "") }, false, nil},
		"a list that has a key twice":  {func(q queue) error { return q.Replace([]any{pod("a", "1"), pod("a", "2")}, "") }, false, nil},
		"a list after which some more": {func(q queue) error { return errors.Join(q.Replace([]any{pod("a", "1")}, ""), q.Add(pod("b", "1"))) }, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(nil)
			require.False(t, q.HasSynced())
			require.NoError(t, c.fill(q))
			require.Equal(t, c.before, q.HasSynced())
			require.Equal(t, c.before, cache.IsDone(q.HasSyncedChecker()))
		})
	}
	q := newQueue(nil)
	require.NoError(t, q.known.Add(pod("vanished", "1")))
	require.NoError(t, q.Replace([]any{pod("a", "1")}, ""))
	require.NoError(t, q.Add(pod("later", "1")))
	pop := func(wantInitial, synced bool) {
		_, err := q.Pop(func(_ any, initial bool) error {
			require.Equal(t, wantInitial, initial)
			require.Equal(t, synced, cache.IsDone(q.HasSyncedChecker()), "HasSynced in the callback (DF-29)")
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, synced, q.HasSynced())
	}
	require.False(t, q.HasSynced())
	pop(true, false)
	// The tombstone and the object added after the list are popped in the order in which they were
	// queued.
	pop(true, true)
	pop(false, true)
	require.NoError(t, q.Replace([]any{pod("x", "1")}, ""))
	require.True(t, q.HasSynced(), "a queue that has synced stays synced (DF-30)")
}

// RF-1, RF-2, RF-6: one delta at a time, in the order of arrival.
func TestRealFIFOKeepsTheOrder(t *testing.T) {
	q := cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, cache.NewStore(cache.MetaNamespaceKeyFunc), nil)
	var want []cache.Deltas
	for _, name := range []string{"a", "b", "a", "a"} {
		require.NoError(t, q.Add(pod(name, "1")))
		require.NoError(t, q.Delete(pod(name, "2")))
		want = append(want, cache.Deltas{d(cache.Added, pod(name, "1"))}, cache.Deltas{d(cache.Deleted, pod(name, "2"))})
	}
	require.Equal(t, want, popRest(t, q))
}

// RF-11, RF-13, RF-14
func TestRealFIFOOfKnownObjects(t *testing.T) {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	q := cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, known, nil)
	require.ErrorAs(t, q.Replace([]any{pod("a", "1"), 1}, ""), &cache.KeyError{})
	require.NoError(t, q.Bookmark("7"))
	require.NoError(t, known.Add(pod("k", "1")))
	require.NoError(t, known.Add(pod("pending", "1")))
	require.NoError(t, q.Update(pod("pending", "2")))
	require.NoError(t, q.Resync())
	require.Equal(t, []cache.Deltas{{d(cache.Updated, pod("pending", "2"))}, {d(cache.Sync, pod("k", "1"))}}, popRest(t, q))
}

// RF-15 to RF-19, RF-21
func TestRealFIFOOfWholeLists(t *testing.T) {
	q := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, EmitDeltaTypeBookmark: true})
	require.NoError(t, q.Replace([]any{}, "5"))
	require.False(t, q.HasSynced(), "an empty list must be processed too")
	require.NoError(t, q.Bookmark("6"))
	require.NoError(t, q.Resync())
	require.NoError(t, q.Resync())
	_, err := q.Pop(func(obj any, initial bool) error {
		require.True(t, initial)
		require.False(t, cache.IsDone(q.HasSyncedChecker()), "the queue has synced only after the list was processed")
		require.Equal(t, cache.Deltas{d(cache.ReplacedAll, cache.ReplacedAllInfo{ResourceVersion: "5", Objects: []any{}})}, obj)
		return nil
	})
	require.NoError(t, err)
	require.True(t, q.HasSynced())
	require.Equal(t, []cache.Deltas{{d(cache.Bookmark, cache.BookmarkInfo{ResourceVersion: "6"})},
		{d(cache.SyncAll, cache.SyncAllInfo{})}, {d(cache.SyncAll, cache.SyncAllInfo{})}}, popRest(t, q))

	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for _, opts := range []cache.RealFIFOOptions{{}, {AtomicEvents: true, KnownObjects: known}, {KnownObjects: known, UnlockWhileProcessing: true}, {KnownObjects: known, EmitDeltaTypeBookmark: true}} {
		require.Panics(t, func() { cache.NewRealFIFOWithOptions(opts) })
	}
}

// RF-20: the reflector can queue while the consumer processes, unless the backlog is long.
func TestRealFIFOIsUnlockedWhileAnObjectIsProcessed(t *testing.T) {
	for backlog, locked := range map[int]bool{1: false, 5000: true} {
		q := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true})
		for range backlog {
			require.NoError(t, q.Add(pod("a", "1")))
		}
		_, err := q.Pop(func(any, bool) error {
			if !locked {
				require.NoError(t, q.Add(pod("b", "1")))
			}
			return nil
		})
		require.NoError(t, err)
	}
}

// RF-22 to RF-25
func TestRealFIFOBatchesHaveDistinctKeys(t *testing.T) {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	q := cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, known, nil)
	require.NoError(t, q.Replace([]any{pod("a", "1"), pod("b", "1")}, ""))
	for _, name := range []string{"c", "d", "c", "e"} {
		require.NoError(t, q.Add(pod(name, "1")))
	}
	var batches [][]string
	names := func(deltas []cache.Delta) (all []string) {
		for _, delta := range deltas {
			all = append(all, delta.Object.(*corev1.Pod).Name)
		}
		return all
	}
	for range 3 {
		require.NoError(t, q.PopBatch(func(deltas []cache.Delta, initial bool) error {
			require.Equal(t, len(batches) == 0, initial)
			batches = append(batches, names(deltas))
			return nil
		}, func(obj any, _ bool) error {
			batches = append(batches, names(obj.(cache.Deltas)))
			return nil
		}))
	}
	require.Equal(t, [][]string{{"a", "b"}, {"c", "d"}, {"c", "e"}}, batches)

	whole := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true})
	require.NoError(t, whole.Add(pod("a", "1")))
	require.NoError(t, whole.Resync())
	single := 0
	for range 2 {
		require.NoError(t, whole.PopBatch(nil, func(any, bool) error { single++; return nil }))
	}
	require.Equal(t, 2, single, "a delta about all objects is not in a batch")
}
