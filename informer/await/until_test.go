package await_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer/await"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var web = types.NamespacedName{Namespace: "shop", Name: "web"}

// store is a store of pods that counts how often Until reads it.
type store struct {
	*indexer.Store[*corev1.Pod]
	reads int
}

func newStore(t *testing.T) *store {
	s, err := indexer.New(indexer.Options[*corev1.Pod]{})
	require.NoError(t, err)
	return &store{Store: s}
}

func (s *store) Entry(key types.NamespacedName) (indexer.Entry[*corev1.Pod], bool) {
	s.reads++
	return s.Store.Entry(key)
}

func (s *store) put(t *testing.T, key types.NamespacedName, version, uid, ready string) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: types.UID(uid), ResourceVersion: version}}
	if ready != "" {
		pod.Status.Conditions = []corev1.PodCondition{{Type: "Ready", Status: corev1.ConditionStatus(ready), Reason: "ContainersNotReady"}}
	}
	_, err := s.Apply([]indexer.Op[*corev1.Pod]{{Key: key, Object: pod, ResourceVersion: version}}, version)
	require.NoError(t, err)
}

func (s *store) remove(t *testing.T, key types.NamespacedName) {
	_, err := s.Apply([]indexer.Op[*corev1.Pod]{{Key: key, Delete: true}}, "")
	require.NoError(t, err)
}

func TestWaitChecksOnlyWhenTheKeyChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		got := make(chan *corev1.Pod)
		go func() {
			pod, err := await.Until(t.Context(), s, web, await.PodReady[*corev1.Pod]())
			require.NoError(t, err)
			got <- pod
		}()
		synctest.Wait()
		require.Equal(t, 1, s.reads)
		time.Sleep(time.Hour)
		for n := range 10 {
			s.put(t, types.NamespacedName{Name: "other"}, string(rune('1'+n)), "", "True")
		}
		synctest.Wait()
		require.Equal(t, 1, s.reads, "Until does not read the store when time passes or other keys change")
		s.put(t, web, "20", "", "")
		synctest.Wait()
		s.put(t, web, "21", "", "False")
		synctest.Wait()
		require.Equal(t, 3, s.reads)
		s.put(t, web, "22", "", "True")
		require.Equal(t, "22", (<-got).ResourceVersion)
	})
}

func TestWaitEndsAtOnceIfTheConditionHolds(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	pod, err := await.Until(over, s, web, await.Deleted[*corev1.Pod](""))
	require.NoError(t, err)
	require.Nil(t, pod)
	s.put(t, web, "5", "", "")
	pod, err = await.Until(over, s, web, await.And(await.Exists[*corev1.Pod](), await.AtLeast[*corev1.Pod]("5")))
	require.NoError(t, err)
	require.Equal(t, "5", pod.ResourceVersion)
}

func TestErrorDescribesTheLastState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		go func() {
			time.Sleep(20 * time.Second)
			s.put(t, web, "7", "", "False")
		}()
		_, err := await.Until(ctx, s, web, await.PodReady[*corev1.Pod]())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "await: shop/web: condition not met after 30s: status condition Ready is True and not (the object is being deleted) "+
			"(version 7, Ready is False (ContainersNotReady), for 10s): context deadline exceeded")
		failed, ok := errors.AsType[*await.Error](err)
		require.True(t, ok)
		require.Equal(t, 2, failed.Checks)

		gone := errors.New("the user has left")
		other, leave := context.WithCancelCause(t.Context())
		leave(gone)
		_, err = await.Until(other, s, types.NamespacedName{Name: "none"}, await.Exists[*corev1.Pod]())
		require.ErrorIs(t, err, gone)
		require.ErrorContains(t, err, "the object exists (the object is not in the store, for 0s)")
	})
}

func TestDeletedIsAboutTheObjectWithThisUID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		s.put(t, web, "1", "first", "")
		for _, uid := range []types.UID{"", "first"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := await.Until(ctx, s, web, await.Deleted[*corev1.Pod](uid))
			require.Error(t, err)
			cancel()
		}
		done := make(chan *corev1.Pod)
		go func() {
			pod, err := await.Until(t.Context(), s, web, await.Deleted[*corev1.Pod]("first"))
			require.NoError(t, err)
			done <- pod
		}()
		synctest.Wait()
		// The pod is deleted and created again before the waiter reads the store.
		_, err := s.Apply([]indexer.Op[*corev1.Pod]{
			{Key: web, Delete: true},
			{Key: web, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "second"}}, ResourceVersion: "3"},
		}, "3")
		require.NoError(t, err)
		require.EqualValues(t, "second", (<-done).UID)
		s.remove(t, web)
		_, err = await.Until(t.Context(), s, web, await.Deleted[*corev1.Pod]("second"))
		require.NoError(t, err)
	})
}
