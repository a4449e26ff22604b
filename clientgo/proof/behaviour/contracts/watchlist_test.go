package contracts

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// marker returns a bookmark. If value is "true", the bookmark ends the initial events of a
// streaming list.
func marker(version, value string) *corev1.Pod {
	p := pod("", version)
	p.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: value}
	return p
}

const streamingList = `watch "" NotOlderThan bookmarks initial`

// RC-14, RC-15, RC-16, RC-17: changes before the end marker are a part of the list. The version of
// the list is the version of the marker. The stream then continues as the watch.
func TestAStreamingList(t *testing.T) {
	s := &server{streams: true}
	withReflector(t, s, cache.ReflectorOptions{}, func(r *cache.Reflector, store cache.Store) {
		require.Equal(t, []string{streamingList}, s.takeRequests())
		w := s.last(t)
		w.Add(pod("a", "5"))
		w.Add(pod("b", "3"))
		w.Modify(pod("b", "6"))
		w.Delete(pod("a", "7"))
		w.Action(watch.Bookmark, marker("8", "false"))
		synctest.Wait()
		require.Empty(t, store.List(), "only a bookmark with the value \"true\" ends the list")
		require.Empty(t, r.LastSyncResourceVersion())
		w.Action(watch.Bookmark, marker("9", "true"))
		synctest.Wait()
		require.Equal(t, []string{"ns/b"}, store.ListKeys())
		require.Equal(t, "9", r.LastSyncResourceVersion())
		w.Add(pod("c", "10"))
		synctest.Wait()
		require.Len(t, store.List(), 2)
		require.Empty(t, s.takeRequests(), "list and watch are one request")
		require.Zero(t, w.stops)
	})
}

// RC-18: if a streaming list is rejected, a list follows. In this module the list follows after a
// wait, unless the server does not support streaming lists.
func TestARefusedStreamingListIsFollowedByAList(t *testing.T) {
	for _, err := range []error{apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "", nil), apierrors.NewForbidden(corev1.Resource("pods"), "", nil), errors.New("refused")} {
		s := &server{streams: true, watch: func(n int, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				return nil, err
			}
			return nil, nil
		}}
		withReflector(t, s, cache.ReflectorOptions{}, func(r *cache.Reflector, _ cache.Store) {
			sleepAndSettle(5 * time.Second)
			require.Equal(t, []string{streamingList, `list "0" limit=500`, `watch "10" bookmarks`}, s.takeRequests(), "%v", err)
		})
	}
}

// RC-18: if the server is unreachable or busy, the streaming list is retried. If the stream ends
// early, the streaming list starts again.
func TestALostStreamingListIsRetried(t *testing.T) {
	for _, err := range []error{syscall.ECONNREFUSED, apierrors.NewTooManyRequests("busy", 1)} {
		s := &server{streams: true, watch: func(n int, o metav1.ListOptions) (watch.Interface, error) {
			if n == 0 {
				return nil, err
			}
			return nil, nil
		}}
		withReflector(t, s, cache.ReflectorOptions{}, func(*cache.Reflector, cache.Store) {
			require.Equal(t, []string{streamingList}, s.takeRequests())
			sleepAndSettle(10 * time.Second)
			require.Equal(t, []string{streamingList}, s.takeRequests())
		})
	}
	s := &server{streams: true, watch: func(n int, o metav1.ListOptions) (watch.Interface, error) {
		if n == 0 {
			return endingWatch(watch.Event{Type: watch.Added, Object: pod("a", "1")}), nil
		}
		return nil, nil
	}}
	withReflector(t, s, cache.ReflectorOptions{}, func(_ *cache.Reflector, store cache.Store) {
		sleepAndSettle(10 * time.Second)
		s.last(t).Action(watch.Bookmark, marker("9", "true"))
		synctest.Wait()
		for _, request := range s.takeRequests() {
			require.Equal(t, streamingList, request)
		}
		require.Empty(t, store.List(), "the objects of the lost stream are dropped")
	})
}

// RC-18: after an expired version, a streaming list of the most recent state follows.
func TestAStreamingListAfterAVersionHasExpired(t *testing.T) {
	s := &server{streams: true, watch: func(n int, _ metav1.ListOptions) (watch.Interface, error) {
		switch n {
		case 0:
			return endingWatch(watch.Event{Type: watch.Bookmark, Object: marker("9", "true")}, watch.Event{Type: watch.Added, Object: pod("a", "10")}, failure(expired())), nil
		case 1:
			return nil, expired()
		}
		return nil, nil
	}}
	withReflector(t, s, cache.ReflectorOptions{}, func(*cache.Reflector, cache.Store) {
		sleepAndSettle(time.Minute)
		require.Equal(t, []string{streamingList, `watch "10" NotOlderThan bookmarks initial`, streamingList}, s.takeRequests())
	})
}

// RC-28, RC-34: each watch is stopped. The version may be read at any time.
func TestEveryWatchIsStopped(t *testing.T) {
	s := &server{}
	withReflector(t, s, cache.ReflectorOptions{}, func(r *cache.Reflector, _ cache.Store) {
		for n := range 5 {
			go r.LastSyncResourceVersion()
			s.last(t).Add(pod("a", fmt.Sprint(11+n)))
			synctest.Wait()
			s.last(t).FakeWatcher.Stop()
			synctest.Wait()
		}
	})
	require.Len(t, s.opened, 6)
	for _, w := range s.opened {
		require.GreaterOrEqual(t, w.stops, 1)
	}
}

// RC-32: in client-go, a failed resync ends the watch. In this module the failure is logged, and
// the watch continues.
func TestAFailedResyncDoesNotEndTheWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{list: func(n int, _ metav1.ListOptions) (kruntime.Object, error) { return podList("10"), nil }}
		r := cache.NewReflector(s.source(), &corev1.Pod{}, &cache.FakeCustomStore{ResyncFunc: func() error { return errors.New("refused") }}, time.Second)
		run(t, r.RunWithContext, func() {
			sleepAndSettle(time.Minute)
			require.Len(t, s.takeRequests(), 2)
		})
	})
}
