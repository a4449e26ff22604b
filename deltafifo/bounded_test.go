package deltafifo_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
)

// A key is deleted and created again and again while nobody pops. The consumer must still get the
// deletion of its known object, and the creation of the present one.
func TestAKeyThatIsRecreatedForEverIsBounded(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		t.Run(fmt.Sprintf("known=%t", known), func(t *testing.T) {
			t.Parallel()
			f := setup(t, deltafifo.Options{MaxDeltasPerKey: 4})
			rv := 0
			next := func() string { rv++; return strconv.Itoa(rv) }
			want := "a: Added@4 Updated@6"
			if known {
				f.replace(next(), "a@1")
				f.popAndApply()
				f.update("a", next())
				f.del("a", next())
				want = "a: Updated@2 Deleted@3 Added@1504 Updated@1506"
			}
			for range 300 {
				f.add("a", next())
				f.update("a", next())
				f.update("a", next())
				f.update("a", next())
				f.del("a", next())
				require.LessOrEqual(t, f.Stats().Deltas, 4+3)
			}
			f.add("a", next())
			f.update("a", next())
			f.update("a", next())
			if !known {
				want = "a: Added@1501 Updated@1502 Updated@1503"
			}
			require.LessOrEqual(t, f.Stats().Deltas, 4+3)
			require.NotZero(t, f.Stats().Merged)

			b := f.pop()
			require.Equal(t, strconv.Itoa(rv), b.ResourceVersion, "the batch must have the version of the last delta, even if deltas were merged")
			require.Equal(t, []string{want}, text(b))
		})
	}
}

// Names of pods are used only once. The queue must forget pods that were created and deleted
// between two Pops.
func TestNamesThatAreUsedOnceDoNotAccumulate(t *testing.T) {
	t.Parallel()
	f := deltafifo.New(emptyStore[*object]{}, deltafifo.Options{})
	var w allocations
	for i := range 20_000 {
		require.NoError(t, f.Add(key(fmt.Sprint(i)), w.object(), "1"))
		if i%1000 != 0 { // the others stay
			require.NoError(t, f.Delete(key(fmt.Sprint(i)), w.object(), "2"))
		}
	}
	require.LessOrEqual(t, f.Stats().Keys, 20+64)
	require.LessOrEqual(t, w.alive(), 2*(20+64))
	require.EqualValues(t, 20_000+19_980, f.Stats().Queued)
	require.EqualValues(t, 19_980*2, f.Stats().Merged+uint64(f.Stats().Deltas)-20)
}

// The queue must not forget the deletion of a key that the consumer has, or that is in flight.
func TestADeleteThatTheConsumerNeedsIsKept(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{MaxDeltasPerKey: 2})
	f.replace("1", "known@1")
	f.popAndApply()
	f.add("inflight", "2")
	inFlight := f.pop()
	f.add("known", "3") // reported twice, as some servers do
	f.del("known", "4")
	f.add("inflight", "5")
	f.del("inflight", "6")
	for i := range 100 {
		f.add(fmt.Sprint(i), "7")
		f.del(fmt.Sprint(i), "8")
	}
	require.LessOrEqual(t, f.Stats().Keys, 4)
	f.store.apply(inFlight)
	require.Contains(t, f.popAndApply(), "known: Added@3 Deleted@4")
	require.Empty(t, f.store.contents())
}

// hookedStore is a Known that calls a function at each read.
type hookedStore struct {
	*store
	onLastApplied func()
}

func (h *hookedStore) LastApplied(key types.NamespacedName) (string, string, uint64, bool) {
	obj, rv, uid, ok := h.store.LastApplied(key)
	if onLastApplied := h.onLastApplied; onLastApplied != nil {
		h.onLastApplied = nil
		onLastApplied()
	}
	return obj, rv, uid, ok
}

// A sweep reads Known without the lock. The consumer may pop and apply meanwhile.
func TestASweepThatIsOvertakenByPopForgetsNothing(t *testing.T) {
	t.Parallel()
	known := &hookedStore{store: newStore()}
	f := &fixture{deltafifo.New(known, deltafifo.Options{MaxDeltasPerKey: 2}), t, known.store}
	f.add("a", "1")
	f.del("a", "2")
	f.add("b", "3")
	known.onLastApplied = func() {
		f.popAndApply()
		f.add("a", "5")
		require.Equal(t, []string{"a: Added@5"}, f.popAndApply())
		f.del("a", "6")
	}
	f.del("b", "4") // starts a sweep
	require.Nil(t, known.onLastApplied, "the sweep must call LastApplied")
	require.Equal(t, []string{"a: Deleted@6"}, f.popAndApply())
	require.Empty(t, f.store.contents())
}

// A server or a proxy may repeat ADDED for an object that exists. At the limit, the queue merges
// the repetition like an update.
func TestAnAddedThatIsRepeatedForEverIsBounded(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{MaxDeltasPerKey: 3})
	for i := range 100 {
		f.add("a", strconv.Itoa(i))
	}
	require.Equal(t, []string{"a: Added@0 Added@1 Added@99"}, f.popAndApply())
}

// G8, RC-24: the list has no version, and the watch begins with an Added event for each object. So
// the version of the first Added does not mean that the producer has reported everything up to this
// version.
func TestVersionsOfAddsAfterAListWithoutVersionDoNotCount(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(f *fixture){
		"an update": func(f *fixture) { f.update("a", "9") },
		"a delete":  func(f *fixture) { f.del("a", "9") },
		"a bookmark": func(f *fixture) {
			require.NoError(f.t, f.Bookmark("9"))
		},
		"a list": func(f *fixture) { f.replace("9") },
	} {
		for _, listed := range []string{"", "0"} {
			t.Run(name+" "+listed, func(t *testing.T) {
				t.Parallel()
				f := setup(t, deltafifo.Options{})
				version := func() string {
					b := f.pop()
					f.store.apply(b)
					return b.ResourceVersion
				}
				f.replace(listed, "a@7")
				require.Empty(t, version())
				f.add("a", "7")
				require.Empty(t, version())
				f.add("b", "3")
				require.Empty(t, version())
				end(f)
				require.Equal(t, "9", version())
				f.add("c", "10")
				require.Equal(t, "10", version(), "from now on the versions of Adds must count")
				f.replace(listed)
				f.add("c", "12")
				require.Equal(t, "10", version(), "after the next list without a version, the versions of Adds must not count")
			})
		}
	}
}
