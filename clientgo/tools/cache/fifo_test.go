package cache_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
)

func podAt(name, version string) *v1.Pod {
	p := pod(name)
	p.ResourceVersion = version
	return p
}

// popped pops n objects and returns a line for each: name, version, isInInitialList, and HasSynced
// after the pop.
func popped(t *testing.T, q cache.Queue, n int) (all []string) {
	for range n {
		initial := false
		obj, err := q.Pop(func(_ any, isInInitialList bool) error { initial = isInInitialList; return nil })
		require.NoError(t, err)
		all = append(all, fmt.Sprintf("%s initial=%v synced=%v", name(obj), initial, q.HasSynced()))
	}
	return all
}

func TestAFIFOPopsTheNewestObjectOfEachKeyInOrder(t *testing.T) {
	q := cache.NewFIFO(cache.MetaNamespaceKeyFunc)
	require.False(t, q.HasSynced())
	require.NoError(t, q.Add(podAt("a", "1")))
	require.True(t, q.HasSynced(), "a change before any list syncs the queue")
	require.NoError(t, q.Add(podAt("b", "2")))
	require.NoError(t, q.Add(podAt("c", "3")))
	require.NoError(t, q.Update(podAt("b", "4")))
	require.NoError(t, q.Delete(podAt("a", "5")))
	require.NoError(t, q.Delete(podAt("c", "6")))
	require.NoError(t, q.Add(podAt("a", "7")))
	require.NoError(t, q.Resync())
	require.Equal(t, []string{"a@7 initial=false synced=true", "b@4 initial=false synced=true"}, popped(t, q, 2))
	q.Close()
	require.True(t, q.IsClosed())
	_, err := q.Pop(nil)
	require.ErrorIs(t, err, cache.ErrFIFOClosed)
}

func TestAFIFOIsSyncedWhenItsFirstListIsPopped(t *testing.T) {
	q := cache.NewFIFO(cache.MetaNamespaceKeyFunc)
	require.NoError(t, q.Replace([]any{podAt("a", "1"), podAt("b", "1"), podAt("a", "2"), podAt("c", "1")}, "4"))
	require.NoError(t, q.Delete(podAt("b", "1")))
	require.Equal(t, []string{"a@2 initial=true synced=false", "c@1 initial=true synced=true"}, popped(t, q, 2))
	<-q.Done()
	require.Equal(t, "FIFO", q.HasSyncedChecker().Name())
	require.NoError(t, q.Add(podAt("d", "1")))
	require.NoError(t, q.Replace([]any{podAt("e", "1")}, "5"))
	require.Equal(t, []string{"e@1 initial=false synced=true"}, popped(t, q, 1), "Replace drops the queued objects")

	empty := cache.NewFIFO(cache.MetaNamespaceKeyFunc)
	require.NoError(t, empty.Replace(nil, ""))
	require.True(t, empty.HasSynced())
}

func TestPopOfAFIFOWaitsAndReturnsErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := cache.NewFIFO(cache.MetaNamespaceKeyFunc)
		require.ErrorAs(t, q.Add(1), &cache.KeyError{})
		require.ErrorAs(t, q.Delete(1), &cache.KeyError{})
		require.ErrorAs(t, q.Replace([]any{1}, ""), &cache.KeyError{})
		require.False(t, q.HasSynced())
		refused := errors.New("refused")
		errs := make(chan error)
		for range 2 {
			go func() {
				_, err := q.Pop(func(any, bool) error { return refused })
				errs <- err
			}()
		}
		synctest.Wait()
		require.NoError(t, q.Add(pod("a")))
		require.ErrorIs(t, <-errs, refused)
		q.Close()
		require.ErrorIs(t, <-errs, cache.ErrFIFOClosed)
	})
}
