package informer_test

import (
	"context"
	"errors"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// afterEvents returns the store of an informer that has listed these objects at version 1, and then
// received these events.
func afterEvents(t *testing.T, listed []listwatch.Item[*obj], events ...listwatch.Event[*obj]) (store *indexer.Reader[*obj]) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1", listed...)
		// The fake's list does not follow its events, so there is nothing to compare.
		inf := newInformer(t, f, informer.Options[*obj]{Reflector: reflector.Options{SkipComparison: true}})
		stop := start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		for _, e := range events {
			f.Events <- e
		}
		synctest.Wait()
		stop()
		store = inf.Store()
	})
	return store
}

func TestObjectsWithoutAVersionChange(t *testing.T) {
	store := afterEvents(t, []listwatch.Item[*obj]{item("a", "", "old")}, ev(listwatch.Modified, "a", "", "new"))
	o, _ := store.Get(types.NamespacedName{Name: "a"})
	require.Equal(t, "new", o.v)
}

func TestAStaleEventDoesNotResurrect(t *testing.T) {
	store := afterEvents(t, nil,
		ev(listwatch.Added, "a", "2", "x"), ev(listwatch.Deleted, "a", "3", "x"), ev(listwatch.Added, "a", "2", "x"))
	require.Zero(t, store.Len())
}

func TestAStaleEventDoesNotRegress(t *testing.T) {
	store := afterEvents(t, []listwatch.Item[*obj]{item("a", "1", "x")},
		ev(listwatch.Modified, "a", "2", "x"), ev(listwatch.Modified, "a", "3", "x"), ev(listwatch.Modified, "a", "2", "x"))
	e, _ := store.Entry(types.NamespacedName{Name: "a"})
	require.Equal(t, "3", e.ResourceVersion)
}

func TestWaitRVAfterAllowedTimeTravel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1000", item("a", "1000", "x"))
		inf := newInformer(t, f, informer.Options[*obj]{Reflector: reflector.Options{AllowTimeTravel: true}})
		stop := start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		f.Set("500", item("a", "400", "restored"))
		for range 1 {
			f.Events <- error(apierrors.NewResourceExpired("old"))
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		e, _ := inf.Store().Entry(types.NamespacedName{Name: "a"})
		require.Equal(t, "400", e.ResourceVersion, "the store accepts the older state")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		// 501 is the version of a write that no watch has reported yet.
		err := inf.Store().WaitRV(ctx, "501")
		stop()
		require.Error(t, err, "the store is at another version than 501: "+inf.Store().ResourceVersion())
	})
}

func TestOnAppliedLeavesOutRefusedKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1", item("a", "1", "x"))
		var keys atomic.Int32
		o := informer.Options[*obj]{Observer: &informer.Observer{OnApplied: func(a informer.AppliedInfo) { keys.Add(int32(len(a.Keys))) }}}
		o.Reflector.SkipUndecodable = true
		o.Store.Indexes = map[string]indexer.IndexFunc[*obj]{"v": func(*obj) ([]string, error) { return nil, errors.New("no") }}
		inf := newInformer(t, f, o)
		stop := start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		stop()
		require.Zero(t, keys.Load(), "OnApplied leaves out keys whose object was refused")
	})
}

func TestANilSourceIsRefused(t *testing.T) {
	_, err := informer.New[*obj](nil, informer.Options[*obj]{})
	require.Error(t, err)
}

// The event is a DELETED without a decodable name, during a streaming list.
func TestANamelessDeleteInAStreamingListLeadsToAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1")
		inf := newInformer(t, f, informer.Options[*obj]{Reflector: reflector.Options{ListMode: reflector.WatchList}})
		stop := start(t, inf)
		f.Events <- ev(listwatch.Added, "a", "1", "x")
		f.Events <- error(&listwatch.ObjectError{Type: listwatch.Deleted, Err: errors.New("garbage")})
		f.Events <- listwatch.Event[*obj]{Type: listwatch.Bookmark, Item: listwatch.Item[*obj]{ResourceVersion: "2"}, InitialEventsEnd: true}
		synctest.Wait()
		time.Sleep(time.Minute)
		n, rel := inf.Store().Len(), inf.Status().Reflector.Relists
		stop()
		require.True(t, n == 0 || rel > 0, "a is gone from the server; the store has %d, relists %d", n, rel)
	})
}
