package indexer

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/indexer/internal/versions"
)

// eventually runs the garbage collector until a condition holds, because cleanups run some time
// after a collection.
func eventually(t *testing.T, holds func() bool, what string) {
	require.Eventually(t, func() bool {
		runtime.GC()
		return holds()
	}, time.Minute, time.Millisecond, what)
}

// allocations returns the number of allocations of one call of f. It is the lowest of several
// measurements, because all goroutines count, including those that clean up after earlier tests.
func allocations(calls int, f func()) float64 {
	least := testing.AllocsPerRun(calls, f)
	for range 20 {
		if least == 0 {
			break
		}
		runtime.GC()
		least = min(least, testing.AllocsPerRun(calls, f))
	}
	return least
}

// fill stores a new object under a key, and returns a weak pointer to it.
func fill(t *testing.T, store *Store[*object], k string) weak.Pointer[object] {
	o := &object{terms: []string{"t", "u", "v"}}
	require.NoError(t, apply(store, []Op[*object]{put(k, o)}, ""))
	return weak.Make(o)
}

func isCollected(o weak.Pointer[object]) func() bool { return func() bool { return o.Value() == nil } }

func TestOldVersionsAreDroppedAtOnceWithoutASnapshot(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	first := fill(t, store, "a/x")
	second := fill(t, store, "a/x")
	eventually(t, isCollected(first), "the replaced object must be collected")
	require.NotNil(t, second.Value())
	require.NoError(t, apply(store, []Op[*object]{del("a/x")}, ""))
	eventually(t, isCollected(second), "the deleted object must be collected")
	requireSound(t, store)
	require.Zero(t, requireSound(t, store).Records)
}

func TestReleasedSnapshotRetainsNothing(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	replaced, deleted := fill(t, store, "a/x"), fill(t, store, "a/y")
	s := store.Snapshot()
	between := fill(t, store, "a/x")
	fill(t, store, "a/x")
	require.NoError(t, apply(store, []Op[*object]{del("a/y")}, ""))
	eventually(t, isCollected(between), "an object that no snapshot sees must be collected")
	require.Equal(t, []string{"a/x", "a/y"}, byIndex(t, s, "term", "t"))
	require.NotNil(t, replaced.Value())
	require.NotNil(t, deleted.Value())
	s.Release()
	s.Release()
	eventually(t, isCollected(replaced), "an object that no snapshot sees any more must be collected")
	eventually(t, isCollected(deleted), "an object that no snapshot sees any more must be collected")
	require.Zero(t, requireSound(t, store).Views)
	requireSound(t, store)
	require.Panics(t, func() { s.Get(key("a/x")) })
	require.Panics(t, func() { s.Len() })
}

func TestUnreachableSnapshotIsReleasedByTheGarbageCollector(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	old := fill(t, store, "a/x")
	s := store.Snapshot()
	fill(t, store, "a/x")
	eventually(t, func() bool { return requireSound(t, store).Views == 1 }, "the snapshot must stay while it is in use")
	runtime.KeepAlive(s)
	eventually(t, isCollected(old), "the object must be collected after its snapshot")
	require.Zero(t, requireSound(t, store).Views)
}

// An iterator of a snapshot keeps its objects, even if nothing else refers to the snapshot.
func TestIteratorKeepsItsSnapshot(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, benchOps(100), ""))
	count := 0
	for k := range store.Snapshot().All() {
		require.NoError(t, apply(store, []Op[*object]{{Key: k, Delete: true}}, ""))
		if count++; count%20 == 0 {
			runtime.GC()
		}
	}
	require.Equal(t, 100, count)
	eventually(t, func() bool { return requireSound(t, store).Views == 0 }, "the view must be released after the loop")
	require.Zero(t, requireSound(t, store).Records)
}

// If a loop ends early, or by a panic, its iterator releases the view.
func TestLoopThatEndsEarlyReleasesItsView(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, benchOps(10), ""))
	require.Panics(t, func() {
		for range store.All() {
			require.NoError(t, replace(store, nil, ""))
			require.Equal(t, 1, requireSound(t, store).Views)
			panic("in the loop")
		}
	})
	require.Zero(t, requireSound(t, store).Views)
	require.Zero(t, requireSound(t, store).Records)
}

// While a snapshot is kept, memory does not grow with the number of writes.
func TestOldSnapshotDoesNotLetMemoryGrowWithWrites(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, benchOps(50), ""))
	old := store.Snapshot()
	ops := benchOps(50)
	for n := range 1000 {
		name := "a/new-" + strconv.Itoa(n)
		require.NoError(t, apply(store, []Op[*object]{put(name, &object{terms: []string{name}})}, ""))
		require.NoError(t, apply(store, ops[n%50:][:1], ""))
		require.NoError(t, apply(store, []Op[*object]{del(name)}, ""))
	}
	requireSound(t, store)
	require.LessOrEqual(t, requireSound(t, store).Changes, 200)
	require.Equal(t, 50, requireSound(t, store).Records)
	require.Equal(t, 50, old.Len())
	requireConsistent(t, old)
}

// Writers, relists and index changes run at once. Keys are created and deleted, so that tables grow
// and shrink. Readers keep snapshots for random times. Each snapshot must be consistent at every
// read, and must never change.
func TestSnapshotsStayConsistentWhateverHappens(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	done := make(chan struct{})
	var readers, writers sync.WaitGroup
	for seed := range 2 {
		readers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(seed), 7))
			type kept struct {
				snapshot *Snapshot[*object]
				objects  map[string]int
			}
			var all []kept
			for last := false; !last; {
				select {
				case <-done:
					last = true
				default:
				}
				s := store.Snapshot()
				requireConsistent(t, s)
				all = append(all, kept{s, contentsOf(s)})
				n := random.IntN(len(all))
				requireConsistent(t, all[n].snapshot)
				require.Equal(t, all[n].objects, contentsOf(all[n].snapshot))
				if len(all) > 5 {
					if random.IntN(2) == 0 {
						all[n].snapshot.Release()
					}
					all = append(all[:n], all[n+1:]...)
				}
				for range store.Namespace("a") {
				}
			}
			for _, k := range all {
				k.snapshot.Release()
			}
		})
	}
	for w := range 2 {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 9))
			for n := range 150 {
				var ops []Op[*object]
				for range random.IntN(20) {
					name := string("abc"[random.IntN(3)]) + "/" + strconv.Itoa(random.IntN(20+n))
					if random.IntN(3) == 0 {
						ops = append(ops, del(name))
					} else {
						ops = append(ops, put(name, &object{version: n, terms: []string{strconv.Itoa(random.IntN(6)), strconv.Itoa(random.IntN(6))}}))
					}
				}
				if random.IntN(40) == 0 {
					require.NoError(t, replace(store, ops, ""))
				} else {
					require.NoError(t, apply(store, ops, ""))
				}
				if w == 0 && n%10 == 0 {
					require.NoError(t, store.AddIndex("again", termsOfObject))
				} else if w == 0 && n%10 == 5 {
					require.NoError(t, store.RemoveIndex("again"))
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	eventually(t, func() bool { return requireSound(t, store).Views == 0 }, "all views must be released after the snapshots")
	requireSound(t, store)
	requireConsistent(t, store.Snapshot())
}

// contentsOf returns the version of each object.
func contentsOf(s *Snapshot[*object]) map[string]int {
	objects := map[string]int{}
	for k, o := range s.All() {
		objects[k.String()] = o.version
	}
	return objects
}

func TestUpdateIsOneAllocation(t *testing.T) {
	versions.Unchecked.Store(true)
	defer versions.Unchecked.Store(false)
	store := newStore(t, map[string]IndexFunc[*object]{"term": termsOfObject, "other": termsOfObject})
	stay, a, b := &object{terms: []string{"t"}}, &object{terms: []string{"t"}}, &object{terms: []string{"u"}}
	require.NoError(t, apply(store, []Op[*object]{put("a/x", stay), put("a/y", stay), put("a/z", b)}, "1"))
	ops := [][]Op[*object]{{put("a/x", a)}, {put("a/x", b)}}
	require.LessOrEqual(t, allocations(100, func() { _, _ = store.Apply(ops[0], "2") }), 1.0)

	// These numbers allow for a list of terms when the terms have changed, and for the occasional
	// growth of a list of records.
	n := 0
	require.LessOrEqual(t, allocations(1000, func() {
		n++
		_, _ = store.Apply(ops[n%2], "2")
	}), 3.0)
}

func TestChangesPanicsBetweenStores(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { newStore(t, nil).Snapshot().Changes(newStore(t, nil).Snapshot()) })
}
