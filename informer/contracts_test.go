package informer_test

import (
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

func TestTheStoreSaysWhetherAnObjectIsNew(t *testing.T) { // PD-2
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1", item("a", "1", "x"))
		inf := newInformer(t, f, informer.Options[*obj]{})
		var got []string
		_, err := inf.AddHandler(func(e informer.Event[*obj]) { got = append(got, names(e)+" "+e.Cause.String()) }, informer.HandlerOptions{})
		require.NoError(t, err)
		stop := start(t, inf)
		synctest.Wait()
		f.Events <- ev(listwatch.Added, "a", "2", "y")
		f.Events <- ev(listwatch.Modified, "b", "3", "y")
		synctest.Wait()
		stop()
		require.Equal(t, []string{"Added a@1 initial", "Updated a@2 watch", "Added b@3 watch"}, got)
	})
}

func TestSyncedOnlyWhenTheLastInitialObjectIsStored(t *testing.T) { // RF-21, SI-6
	synctest.Test(t, func(t *testing.T) {
		opts := informer.Options[*obj]{}
		opts.Store.Indexes = map[string]indexer.IndexFunc[*obj]{"v": func(o *obj) ([]string, error) {
			time.Sleep(time.Second)
			return []string{o.v}, nil
		}}
		inf := newInformer(t, newFake("2", item("a", "1", "x"), item("b", "2", "x")), opts)
		stop := start(t, inf)
		time.Sleep(1500 * time.Millisecond)
		require.False(t, inf.Status().Synced, "one object is still being stored")
		require.NoError(t, inf.WaitForSync(t.Context()))
		require.Equal(t, 2, inf.Store().Len())
		stop()
	})
}

func TestAResyncWritesNothing(t *testing.T) { // PD-4, SI-27
	synctest.Test(t, func(t *testing.T) {
		inf := newInformer(t, newFake("1", item("a", "1", "x")), informer.Options[*obj]{})
		resyncs := 0
		_, err := inf.AddHandler(func(e informer.Event[*obj]) {
			if e.Cause == informer.Resync {
				resyncs++
				require.Same(t, e.Old, e.New)
			}
		}, informer.HandlerOptions{Resync: time.Second})
		require.NoError(t, err)
		stop := start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		before, _ := inf.Store().Entry(item("a", "", "").Key)
		time.Sleep(time.Minute)
		after, _ := inf.Store().Entry(item("a", "", "").Key)
		stop()
		require.Greater(t, resyncs, 50)
		require.Equal(t, before, after)
		require.EqualValues(t, 1, inf.Status().Store.Added+inf.Status().Store.Updated)
	})
}

// The store has the source's version from the first list on, and advances with bookmarks, which no
// handler receives. Every index, including the namespace index, has the first object when the first
// handler receives it.
func TestVersionAndIndexesFromTheFirstObjectOn(t *testing.T) { // SI-7, SI-31, PD-7
	synctest.Test(t, func(t *testing.T) {
		opts := informer.Options[*obj]{}
		opts.Store.Indexes = map[string]indexer.IndexFunc[*obj]{"v": func(o *obj) ([]string, error) { return []string{o.v}, nil }}
		first, second, elsewhere := item("a", "1", "x"), item("b", "2", "x"), item("c", "2", "y")
		first.Key.Namespace, second.Key.Namespace = "ns", "ns"
		f := newFake("2", first, second, elsewhere)
		inf := newInformer(t, f, opts)
		store := inf.Store()
		require.Empty(t, store.ResourceVersion())
		received := 0
		_, err := inf.AddHandler(func(informer.Event[*obj]) {
			received++
			found := func(seq iter.Seq2[types.NamespacedName, *obj], err error) (keys []string) {
				require.NoError(t, err)
				for key := range seq {
					keys = append(keys, key.Name)
				}
				slices.Sort(keys)
				return keys
			}
			require.Equal(t, []string{"a", "b"}, found(store.ByIndex("v", "x")))
			require.Equal(t, []string{"a", "b"}, found(store.Namespace("ns"), nil))
			require.Equal(t, "2", store.ResourceVersion())
		}, informer.HandlerOptions{})
		require.NoError(t, err)
		stop := start(t, inf)
		synctest.Wait()
		bookmark := listwatch.Event[*obj]{Type: listwatch.Bookmark}
		bookmark.ResourceVersion = "9"
		f.Events <- bookmark
		synctest.Wait()
		require.Equal(t, "9", store.ResourceVersion())
		require.Equal(t, 3, received)
		stop()
	})
}
