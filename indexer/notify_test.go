package indexer

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// closed reports whether a channel is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestChangedClosesWhenItsKeyIsWritten(t *testing.T) {
	t.Parallel()
	steps := []struct {
		name string
		ops  []Op[*object]
		want bool
	}{
		{"another key", []Op[*object]{put("a/y", &object{})}, false},
		{"a delete of a missing key", []Op[*object]{del("a/x")}, false},
		{"an object that cannot be indexed", []Op[*object]{put("a/x", &object{err: errUnfit})}, false},
		{"an add", []Op[*object]{put("a/z", &object{}), put("a/x", &object{})}, true},
		{"an update", []Op[*object]{put("a/x", &object{})}, true},
		{"a delete", []Op[*object]{del("a/x")}, true},
		{"an add and a delete", []Op[*object]{put("a/x", &object{}), del("a/x")}, true},
	}
	store := newStore(t, byTerm)
	for _, step := range steps {
		changed, cancel := store.Notify(key("a/x"))
		_ = apply(store, step.ops, "")
		require.Equal(t, step.want, closed(changed), step.name)
		cancel()
		require.Zero(t, requireSound(t, store).WaitedKeys)
	}
}

func TestChangedClosesWhenReplaceLeavesItsKeyOut(t *testing.T) {
	t.Parallel()
	store := newStore(t, nil)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{}), put("a/y", &object{})}, ""))
	x, cancelX := store.Notify(key("a/x"))
	defer cancelX()
	y, cancelY := store.Notify(key("a/y"))
	defer cancelY()
	require.NoError(t, replace(store, []Op[*object]{put("a/y", &object{})}, ""))
	require.True(t, closed(x))
	require.True(t, closed(y))
}

func TestChangedIsNotTouchedByAnIndex(t *testing.T) {
	t.Parallel()
	store := newStore(t, nil)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{})}, ""))
	changed, cancel := store.Notify(key("a/x"))
	defer cancel()
	require.NoError(t, store.AddIndex("term", termsOfObject))
	require.NoError(t, store.RemoveIndex("term"))
	require.False(t, closed(changed))
}

func TestChangedIsSharedAndEachMayCancel(t *testing.T) {
	t.Parallel()
	store := newStore(t, nil)
	first, cancelFirst := store.Notify(key("a/x"))
	second, cancelSecond := store.Notify(key("a/x"))
	cancelFirst()
	cancelFirst()
	require.False(t, closed(first))
	require.Equal(t, 1, requireSound(t, store).WaitedKeys, "the second caller must still wait")
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{})}, ""))
	require.True(t, closed(second))

	// A second call of cancel does not end another caller's wait.
	third, cancelThird := store.Notify(key("a/x"))
	defer cancelThird()
	cancelSecond()
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{})}, ""))
	require.True(t, closed(third))
}

// A reader that gets the channel, then reads, and then waits misses no change.
func TestChangedMissesNothing(t *testing.T) {
	t.Parallel()
	store := newStore(t, nil)
	const last = 3000
	var all sync.WaitGroup
	for n := range 3 {
		all.Go(func() {
			k := key("a/" + strconv.Itoa(n))
			for {
				changed, cancel := store.Notify(k)
				if o, ok := store.Get(k); ok && o.version == last {
					cancel()
					return
				}
				<-changed
			}
		})
	}
	for version := 1; version <= last; version++ {
		require.NoError(t, apply(store, []Op[*object]{put("a/0", &object{version: version}), put("a/1", &object{version: version}), put("a/2", &object{version: version})}, ""))
	}
	all.Wait()
	require.Zero(t, requireSound(t, store).WaitedKeys)
}
