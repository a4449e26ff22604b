package deltafifo_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
)

// emptyStore is a consumer that keeps nothing.
type emptyStore[T any] struct{}

func (emptyStore[T]) LastApplied(types.NamespacedName) (obj T, resourceVersion string, uidHash uint64, ok bool) {
	return
}
func (emptyStore[T]) AllKeys() iter.Seq[types.NamespacedName] {
	return func(func(types.NamespacedName) bool) {}
}

type object struct{ _ [128]byte }

// allocations makes objects and keeps only weak pointers to them.
type allocations struct{ made []weak.Pointer[object] }

func (a *allocations) object() *object {
	o := &object{}
	a.made = append(a.made, weak.Make(o))
	return o
}

func (a *allocations) alive() (n int) {
	runtime.GC()
	for _, p := range a.made {
		if p.Value() != nil {
			n++
		}
	}
	return n
}

// RF-6
func TestObjectsThatWerePoppedAreNotRetained(t *testing.T) {
	t.Parallel()
	f := deltafifo.New(emptyStore[*object]{}, deltafifo.Options{MaxDeltasPerKey: -1})
	var w allocations
	name := func(i int) types.NamespacedName { return key(fmt.Sprint(i)) }
	// All code that handles an object is in a separate function, so that no stack slot of the test
	// keeps the object.
	fill := func() {
		var items []listwatch.Item[*object]
		for i := range 100 {
			items = append(items, listwatch.Item[*object]{Key: name(i), Object: w.object(), ResourceVersion: "1"})
		}
		require.NoError(t, f.Replace(listwatch.Snapshot[*object]{Items: items, ResourceVersion: "1"}))
		for i := range 100 {
			require.NoError(t, f.Update(name(i), w.object(), "2"))
			require.NoError(t, f.Delete(name(i), w.object(), "3"))
			require.NoError(t, f.Add(name(1000+i), w.object(), "4"))
			require.NoError(t, f.Delete(name(2000+i), w.object(), "5"))
		}
	}
	pop := func() {
		b, err := f.Pop(context.Background())
		require.NoError(t, err)
		require.Len(t, b.Stacks, 200)
	}

	fill()
	require.Equal(t, 500, w.alive())
	pop()
	require.NoError(t, f.Add(key("next"), &object{}, "6")) // while a batch is in flight
	require.Zero(t, w.alive(), "while the batch is in flight")
	runtime.KeepAlive(f)
}

func TestMergedStatesAreNotRetained(t *testing.T) {
	t.Parallel()
	f := deltafifo.New(emptyStore[*object]{}, deltafifo.Options{MaxDeltasPerKey: 3})
	var w allocations
	for range 100 {
		require.NoError(t, f.Update(key("a"), w.object(), "1"))
	}
	// three objects, and perhaps one in the old array of the slice
	require.LessOrEqual(t, w.alive(), 4)
	runtime.KeepAlive(f)
}
