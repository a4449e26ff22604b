package indexer

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

func TestG8_WaitRVReturnsWhenEverythingUpToTheVersionIsApplied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t, byTerm)
		const last = 120
		var (
			mu       sync.Mutex // guards following
			returned = map[int]int{}
		)
		waiters := 0
		for version := 1; version <= last; version++ {
			for range version % 3 {
				waiters++
				go func() {
					require.NoError(t, store.WaitRV(t.Context(), strconv.Itoa(version)))
					// Each version stores another object. The store must have the objects of all
					// versions up to this one.
					s := store.Snapshot()
					for v := 1; v <= version; v++ {
						_, ok := s.Get(key("a/" + strconv.Itoa(v)))
						require.True(t, ok)
					}
					require.GreaterOrEqual(t, len(byIndex(t, s, "term", "t")), version)
					mu.Lock()
					defer mu.Unlock()
					returned[version]++
				}()
			}
		}
		synctest.Wait()
		require.Equal(t, waiters, store.Stats().Waiting)

		random := rand.New(rand.NewPCG(3, 5))
		for version := 0; version < last; {
			var ops []Op[*object]
			for range min(1+random.IntN(5), last-version) {
				version++
				ops = append(ops, put("a/"+strconv.Itoa(version), &object{terms: []string{"t"}}))
			}
			require.NoError(t, apply(store, ops, strconv.Itoa(version)))
			synctest.Wait()
			mu.Lock()
			for v := 1; v <= last; v++ {
				want := 0
				if v <= version {
					want = v % 3
				}
				require.Equal(t, want, returned[v], "returned waiters for version %d when the store is at %d", v, version)
			}
			mu.Unlock()
		}
		require.Zero(t, store.Stats().Waiting)
	})
}

func TestWaitRVReturnsAtOnceForAVersionThatIsReached(t *testing.T) {
	t.Parallel()
	store := newStore(t, nil)
	ended, end := context.WithCancel(t.Context())
	end()
	require.NoError(t, store.WaitRV(ended, ""), "WaitRV must return at once: no particular version")
	require.NoError(t, store.WaitRV(ended, "0"), "WaitRV must return at once: no particular version")
	require.NoError(t, apply(store, nil, "10"))
	require.NoError(t, store.WaitRV(ended, "10"))
	require.NoError(t, store.WaitRV(ended, "9"))
	require.ErrorIs(t, store.WaitRV(ended, "11"), context.Canceled)
}

func TestWaitRVEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t, nil)
		require.NoError(t, apply(store, nil, "10"))
		reason := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, reason)
		defer cancel()
		start := time.Now()
		err := store.WaitRV(ctx, "11")
		require.ErrorIs(t, err, reason)
		require.EqualError(t, err, `indexer: waiting for resourceVersion 11, the store is at "10": enough`)
		require.Equal(t, time.Minute, time.Since(start))
		require.Zero(t, store.Stats().Waiting)
		require.NoError(t, apply(store, nil, "11"), "no waiter may be left")
	})
}

func TestWaitRVRefusesVersionsThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	store := newStore(t, nil)
	for _, malformed := range []string{"abc", "-1", "1.5", "007", " 1"} {
		err := store.WaitRV(t.Context(), malformed)
		require.ErrorAs(t, err, new(resourceversion.InvalidResourceVersion))
		require.ErrorContains(t, err, strconv.Quote(malformed))
	}
	require.NoError(t, apply(store, nil, "opaque"))
	require.ErrorContains(t, store.WaitRV(t.Context(), "7"), `the store is at "opaque"`)
}

func TestWaitRVGivesUpWhenTheStoreGetsAVersionThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t, nil)
		result := make(chan error, 1)
		go func() { result <- store.WaitRV(t.Context(), "7") }()
		synctest.Wait()
		require.NoError(t, apply(store, nil, "opaque"))
		require.ErrorContains(t, <-result, `the store is at "opaque"`)
	})
}

func TestWaitRVPrefersTheVersionToTheEndOfItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- store.WaitRV(ctx, "1") }()
		synctest.Wait()
		// The context ends first. Then the version is reached, before WaitRV can return.
		store.waiters.mu.Lock()
		cancel()
		store.waiters.wakeLocked("1")
		store.waiters.mu.Unlock()
		require.NoError(t, <-result)
	})
}

func TestObserverReceivesWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var waits []WaitedInfo
		store, err := New(Options[*object]{Observer: &Observer{OnWaited: func(info WaitedInfo) { waits = append(waits, info) }}})
		require.NoError(t, err)
		require.NoError(t, store.WaitRV(t.Context(), ""))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = store.WaitRV(ctx, "1")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, []WaitedInfo{{ResourceVersion: "1", Took: time.Second, Err: err}}, waits)
	})
}

// A writer publishes without the waiters' lock, and then wakes waiters. By then another writer may
// have lowered the store's version.
func TestWaitRVIsNotWokenByAVersionThatWasLowered(t *testing.T) {
	t.Parallel()
	store := newStore(t, nil)
	reached := func(version string) func() bool {
		return func() bool { return store.ResourceVersion() == version }
	}
	w := &waiter{resourceVersion: "15", reached: make(chan error, 1)}
	var writers sync.WaitGroup
	store.waiters.count.Add(1) // makes the writers wait for the lock
	store.waiters.mu.Lock()
	writers.Go(func() { _, _ = store.Apply(nil, "20") })
	require.Eventually(t, reached("20"), time.Minute, time.Millisecond)
	writers.Go(func() { _, _ = store.ApplyRelist(nil, "5") })
	require.Eventually(t, reached("5"), time.Minute, time.Millisecond)
	// a waiter that has found version 5 too low
	store.waiters.waiting = append(store.waiters.waiting, w)
	store.waiters.mu.Unlock()
	writers.Wait()
	require.Empty(t, w.reached, "the waiter must not be woken, because the store is at 5")

	require.NoError(t, apply(store, nil, "15"))
	require.NoError(t, <-w.reached)
}

// If writers report versions in any order, each waiter wakes, but not too early.
func TestWaitRVWithSeveralWriters(t *testing.T) {
	t.Parallel()
	store := newStore(t, nil)
	const writers, each = 4, 300
	var waiting, writing sync.WaitGroup
	for n := range 100 {
		version := 1 + n*writers*each/100
		waiting.Go(func() {
			require.NoError(t, store.WaitRV(t.Context(), strconv.Itoa(version)))
			now, err := strconv.Atoi(store.ResourceVersion())
			require.NoError(t, err)
			require.GreaterOrEqual(t, now, version)
		})
	}
	for w := range writers {
		writing.Go(func() {
			for n := range each {
				version := strconv.Itoa(1 + n*writers + w)
				require.NoError(t, apply(store, []Op[*object]{put("a/"+version, &object{})}, version))
			}
		})
	}
	writing.Wait()
	waiting.Wait()
	require.Equal(t, strconv.Itoa(writers*each), store.ResourceVersion())
	require.Equal(t, writers*each, store.Len())
	require.Zero(t, store.Stats().Waiting)
}
