package indexer

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/indexer/internal/versions"
)

// wholeSet returns the objects for one version. Its keys, namespaces and index values differ from
// those of the neighbouring versions.
func wholeSet(version int) []Op[*object] {
	size := 20 + version%7
	ops := make([]Op[*object], size)
	for i := range ops {
		ops[i] = put("n"+strconv.Itoa((i+version)%5)+"/"+strconv.Itoa(i+version%11), &object{
			version: version,
			terms:   []string{"all", strconv.Itoa((i * version) % 9)},
		})
	}
	return ops
}

// requireWhole checks that a snapshot is exactly one set of wholeSet, in its objects and its
// indexes.
func requireWhole(t require.TestingT, s *Snapshot[*object]) {
	requireConsistent(t, s)
	version, _ := strconv.Atoi(s.ResourceVersion())
	require.Equal(t, 20+version%7, s.Len())
	for _, o := range s.All() {
		require.Equal(t, version, o.version)
	}
	require.Len(t, byIndex(t, s, "term", "all"), s.Len())
	total := 0
	for _, count := range s.Namespaces() {
		total += count
	}
	require.Equal(t, s.Len(), total)
}

func TestG7_ReadersNeverSeeAMixtureNorAnIndexThatDisagrees(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, wholeSet(1), "1"))
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			var kept []*Snapshot[*object]
			var revision uint64
			for last := false; !last; {
				select {
				case <-done:
					last = true
				default:
				}
				s := store.Snapshot()
				requireWhole(t, s)
				require.GreaterOrEqual(t, s.Revision(), revision, "the revision must not go down")
				revision = s.Revision()

				// Even without a snapshot, each single result is complete.
				version := 0
				for _, o := range store.All() {
					require.True(t, version == 0 || version == o.version)
					version = o.version
				}
				if len(kept) < 20 {
					kept = append(kept, s)
				}
			}
			for _, s := range kept {
				requireWhole(t, s)
			}
		})
	}
	for version := 2; version < 400; version++ {
		set := wholeSet(version)
		if version%2 == 0 {
			require.NoError(t, replace(store, set, strconv.Itoa(version)))
			continue
		}
		// This is the same transaction with Apply: delete the objects that vanish, and store the
		// new ones.
		stay := map[string]bool{}
		for _, op := range set {
			stay[op.Key.String()] = true
		}
		var ops []Op[*object]
		for k := range store.Keys() {
			if !stay[k.String()] {
				ops = append(ops, Op[*object]{Key: k, Delete: true})
			}
		}
		require.NoError(t, apply(store, append(ops, set...), strconv.Itoa(version)))
	}
	close(done)
	readers.Wait()
}

// Get of a store does not pin a view. Nevertheless it must not see an unpublished transaction, with
// or without snapshots of the previous state.
func TestG7_GetDoesNotSeeAnUnpublishedTransaction(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{false, true} {
		store := newStore(t, byTerm)
		require.NoError(t, apply(store, []Op[*object]{put("a/changes", &object{version: 1}), put("a/goes", &object{version: 1})}, "1"))
		if kept {
			defer store.Snapshot().Release()
		}
		versionOf := func(name string) int {
			if o, ok := store.Get(key(name)); ok {
				return o.version
			}
			return 0
		}
		seen := func() [3]int { return [3]int{versionOf("a/changes"), versionOf("a/goes"), versionOf("b/comes")} }
		e := store.source.Engine
		e.Lock()
		e.Begin(3)
		e.Put(key("a/changes"), &versions.Version{Object: &object{version: 2}, ResourceVersion: "2"}, nil)
		e.Delete(key("a/goes"))
		e.Put(key("b/comes"), &versions.Version{Object: &object{version: 2}, ResourceVersion: "2"}, nil)
		require.Equal(t, [3]int{1, 1, 0}, seen())
		e.Publish()
		require.Equal(t, [3]int{2, 0, 2}, seen())
		e.Unlock()
		requireSound(t, store)
	}
}

// Each writer has its own keys, one goroutine adds and removes indexes, and readers check. In the
// end, the store must have every object that was written last.
func TestG7_AfterAnObjectIsSeenEveryLaterViewHasItsTransaction(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{version: 1})}, "1"))
	done := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for !closed(done) {
			o, _ := store.Get(key("a/x"))
			through, _ := strconv.Atoi(store.ResourceVersion())
			if through < o.version {
				t.Errorf("Get returned version %d, and a later view has only version %d", o.version, through)
				return
			}
		}
	})
	others.Go(func() {
		for !closed(done) { // pinned old versions make Get compare revisions
			store.Snapshot().Release()
		}
	})
	for n := 2; n < 30_000 && !t.Failed(); n++ {
		ops := []Op[*object]{put("a/x", &object{version: n}), put("a/y", &object{})}[:1+n%2]
		require.NoError(t, apply(store, ops, strconv.Itoa(n)))
	}
	close(done)
	others.Wait()
	requireSound(t, store)
}

func TestConcurrentWritersAndIndexChangesLoseNothing(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	var writers, others sync.WaitGroup
	done := make(chan struct{})
	finals := make([]map[string]int, 3)
	for w := range finals {
		finals[w] = map[string]int{}
		writers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 1))
			for version := range 1500 {
				k := strconv.Itoa(w) + "/" + strconv.Itoa(random.IntN(50))
				if random.IntN(3) == 0 {
					require.NoError(t, apply(store, []Op[*object]{del(k)}, ""))
					delete(finals[w], k)
					continue
				}
				require.NoError(t, apply(store, []Op[*object]{put(k, &object{version: version, terms: []string{strconv.Itoa(random.IntN(10))}})}, ""))
				finals[w][k] = version
			}
		})
	}
	whenNotDone := func(do func()) {
		for {
			select {
			case <-done:
				return
			default:
				do()
			}
		}
	}
	for _, index := range []string{"again", "and again"} {
		others.Go(func() {
			whenNotDone(func() {
				require.NoError(t, store.AddIndex(index, termsOfObject))
				requireConsistent(t, store.Snapshot())
				require.NoError(t, store.RemoveIndex(index))
			})
		})
	}
	others.Go(func() { whenNotDone(func() { requireConsistent(t, store.Snapshot()) }) })
	writers.Wait()
	close(done)
	others.Wait()

	requireConsistent(t, store.Snapshot())
	want, got := map[string]int{}, map[string]int{}
	for _, final := range finals {
		for k, version := range final {
			want[k] = version
		}
	}
	for k, o := range store.All() {
		got[k.String()] = o.version
	}
	require.Equal(t, want, got)
}
