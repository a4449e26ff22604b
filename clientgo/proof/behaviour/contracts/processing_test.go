package contracts

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// PD-10, PD-11: after an error of Process, the controller continues. isInInitialList is true for
// the first list.
func TestTheControllerContinuesAfterAnErrorOfProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		known := cache.NewStore(cache.MetaNamespaceKeyFunc)
		for _, q := range []cache.Queue{cache.NewDeltaFIFO(cache.MetaNamespaceKeyFunc, known), cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, known, nil)} {
			var processed []string
			c := cache.New(&cache.Config{Queue: q, ListerWatcher: s.source(), ObjectType: &corev1.Pod{}, Process: func(obj any, initial bool) error {
				processed = append(processed, name(obj.(cache.Deltas)[0].Object))
				require.False(t, initial)
				return errors.New("refused")
			}})
			run(t, c.RunWithContext, func() {
				require.True(t, c.HasSynced(), "an empty list syncs the controller")
				require.Equal(t, "10", c.LastSyncResourceVersion())
				s.last(t).Add(pod("a", "11"))
				s.last(t).Add(pod("b", "12"))
				synctest.Wait()
				require.Equal(t, []string{"a11", "b12"}, processed)
			})
			require.ErrorIs(t, func() error { _, err := q.Pop(nil); return err }(), cache.ErrFIFOClosed, "the queue is closed after the run")
		}
	})
}

// PD-1: an informer with one handler changes its store before it calls the handler.
func TestNewInformerChangesTheStoreBeforeTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		h := &handlerRecorder{}
		var store cache.Store
		h.onEvent = func(string) { require.Len(t, store.List(), 1) }
		var c cache.Controller
		store, c = cache.NewInformerWithOptions(cache.InformerOptions{ListerWatcher: s.source(), ObjectType: &corev1.Pod{}, Handler: h, ResyncPeriod: 10 * time.Second})
		run(t, c.RunWithContext, func() {
			s.last(t).Add(pod("a", "11"))
			require.Equal(t, []string{"add a11"}, h.takeLines())
			sleepAndSettle(11 * time.Second)
			require.Equal(t, []string{"update a11 a11"}, h.takeLines())
		})
	})
}

// IX-3, IX-4: when an object's index value changes, the old value does not stay in the index.
func TestAnIndexDropsUnusedValues(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"node": func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }})
	for _, node := range []string{"x", "y", "y"} {
		p := pod("a", "1")
		p.Spec.NodeName = node
		require.NoError(t, indexer.Update(p))
		require.Equal(t, []string{node}, indexer.ListIndexFuncValues("node"))
	}
	require.NoError(t, indexer.Delete(pod("a", "1")))
	require.Empty(t, indexer.ListIndexFuncValues("node"))
	require.NoError(t, indexer.Resync(), "IX-15")
}

// IX-3, D14: when an object is changed in place, client-go keeps the old index value.
func TestAnIndexDropsTheOldValueOfAnObjectChangedInPlace(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"node": func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }})
	p := pod("a", "1")
	p.Spec.NodeName = "x"
	require.NoError(t, indexer.Add(p))
	p.Spec.NodeName = "y" // a change in place, which programs must not make
	require.NoError(t, indexer.Update(pod("a", "2")))
	indexed, err := indexer.ByIndex("node", "x")
	require.NoError(t, err)
	require.Empty(t, indexed)
}

// The queue is closed when the context of Run has ended, even if a panic ended Run before.
func TestTheQueueIsClosedAfterAPanicOfProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{list: func(int, metav1.ListOptions) (kruntime.Object, error) { return podList("10", pod("a", "1")), nil }}
		q := cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, cache.NewStore(cache.MetaNamespaceKeyFunc), nil)
		c := cache.New(&cache.Config{Queue: q, ListerWatcher: s.source(), ObjectType: &corev1.Pod{},
			Process: func(any, bool) error { panic("on purpose") }})
		ctx, cancel := context.WithCancel(t.Context())
		require.PanicsWithValue(t, "on purpose", func() { c.RunWithContext(ctx) })
		cancel()
		synctest.Wait()
		require.True(t, q.IsClosed())
	})
}

// PD-8, RF-22: a Config with ProcessBatch receives all queued deltas at once. A single delta goes
// to Process.
func TestProcessBatchGetsAllQueuedDeltas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{list: func(int, metav1.ListOptions) (kruntime.Object, error) {
			return podList("10", pod("a", "1"), pod("b", "2"), pod("c", "3")), nil
		}}
		known := cache.NewStore(cache.MetaNamespaceKeyFunc)
		var processed []string
		c := cache.New(&cache.Config{Queue: cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, known, nil), ListerWatcher: s.source(), ObjectType: &corev1.Pod{},
			Process: func(obj any, initial bool) error {
				processed = append(processed, fmt.Sprint("one ", name(obj.(cache.Deltas)[0].Object), initial))
				return nil
			},
			ProcessBatch: func(deltas []cache.Delta, initial bool) error {
				processed = append(processed, fmt.Sprint("batch of ", len(deltas), initial))
				return nil
			}})
		run(t, c.RunWithContext, func() {
			s.last(t).Add(pod("d", "11"))
			synctest.Wait()
			require.Equal(t, []string{"batch of 3 true", "one d11false"}, processed)
			require.True(t, c.HasSynced())
		})
	})
}

// PD-4, PD-9: a queue with AtomicEvents returns a whole list as one delta, and the resync of all
// objects as one delta.
func TestAtomicEventsReturnsAListAsOneDelta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{list: func(int, metav1.ListOptions) (kruntime.Object, error) {
			return podList("10", pod("a", "1"), pod("b", "2")), nil
		}}
		var processed []cache.Delta
		c := cache.New(&cache.Config{Queue: cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, EmitDeltaTypeBookmark: true}),
			ListerWatcher: s.source(), ObjectType: &corev1.Pod{}, FullResyncPeriod: 10 * time.Second,
			Process: func(obj any, initial bool) error { processed = append(processed, obj.(cache.Deltas)...); return nil }})
		run(t, c.RunWithContext, func() {
			s.last(t).Action(watch.Bookmark, pod("", "12"))
			sleepAndSettle(11 * time.Second)
			require.Equal(t, []cache.Delta{
				d(cache.ReplacedAll, cache.ReplacedAllInfo{ResourceVersion: "10", Objects: []any{pod("a", "1"), pod("b", "2")}}),
				d(cache.Bookmark, cache.BookmarkInfo{ResourceVersion: "12"}),
				d(cache.SyncAll, cache.SyncAllInfo{}),
			}, processed)
		})
	})
}
