package cache

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// listOnly is a ListerWatcher that does not support streaming lists.
type listOnly struct{ ListerWatcher }

func (listOnly) IsWatchListSemanticsUnSupported() bool { return true }

// While many handlers are added or removed, a change waits for at most one of them.
func TestAChangeWaitsForAtMostOneAddedHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := watch.NewFakeWithChanSize(1, false)
		s := NewSharedIndexInformer(listOnly{&ListWatch{
			ListFunc: func(metav1.ListOptions) (runtime.Object, error) {
				return &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
			},
			WatchFunc: func(metav1.ListOptions) (watch.Interface, error) { return events, nil },
		}}, &v1.Pod{}, 0, Indexers{}).(*sharedIndexInformer)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { s.RunWithContext(ctx) })
		defer running.Wait()
		defer cancel()
		synctest.Wait()
		require.True(t, s.HasSynced())
		var leaving []ResourceEventHandlerRegistration
		for range 50 {
			r, err := s.AddEventHandler(ResourceEventHandlerFuncs{})
			require.NoError(t, err)
			leaving = append(leaving, r)
		}

		s.applyLock.Lock() // as while a change is applied
		var before, after, removed atomic.Int32
		for i := range 50 {
			running.Go(func() {
				_, _ = s.AddEventHandler(ResourceEventHandlerDetailedFuncs{AddFunc: func(_ any, initial bool) {
					if initial {
						after.Add(1)
					} else {
						before.Add(1)
					}
				}})
			})
			running.Go(func() {
				_ = s.RemoveEventHandler(leaving[i])
				if len(s.indexer.ListKeys()) == 0 {
					removed.Add(1)
				}
			})
		}
		synctest.Wait()
		events.Add(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "2"}})
		synctest.Wait()
		require.Empty(t, s.indexer.ListKeys(), "the change waits for the lock")
		s.applyLock.Unlock()
		synctest.Wait()
		require.LessOrEqual(t, before.Load()+removed.Load(), int32(1))
		require.EqualValues(t, 50, before.Load()+after.Load())
	})
}
