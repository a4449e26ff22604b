package warmstart_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/informer/warmstart"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

func TestSaveEverySavesChangesAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "sub", "pods")
		server := cluster(t, apitest.Options{})
		dead := server.Inject(apitest.Fault{Action: apitest.Code(503, 0)})
		s := startPods(t, server, path)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.file.SaveEvery(ctx, time.Minute) }()
		isThere := func() bool {
			synctest.Wait()
			_, err := os.Stat(path)
			return err == nil
		}

		time.Sleep(150 * time.Second)
		_, failed := s.received()
		require.NoError(t, failed, "a store without a version is not saved")
		dead.Remove()
		s.synced()
		time.Sleep(time.Minute)
		_, failed = s.received()
		require.ErrorIs(t, failed, fs.ErrNotExist, "a save fails while the directory does not exist")
		require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
		time.Sleep(time.Minute)
		require.True(t, isThere(), "the save is retried after the interval")

		require.NoError(t, os.Remove(path))
		_, err := server.Create(pod("one", "web"))
		require.NoError(t, err)
		require.NoError(t, s.informer.Store().WaitRV(t.Context(), server.ResourceVersion()))
		s.end()
		cancel()
		require.NoError(t, <-ended)
		s = startPods(t, server, path)
		s.synced()
		events, failed := s.received()
		require.NoError(t, failed)
		require.Equal(t, []string{"Added one initial"}, events)

		// Nothing has changed since the last save.
		require.NoError(t, os.Remove(path))
		s.end()
		ctx, cancel = context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		go func() { ended <- s.file.SaveEvery(ctx, time.Minute) }()
		time.Sleep(61 * time.Second)
		require.True(t, isThere())
		require.NoError(t, os.Remove(path))
		require.NoError(t, <-ended)
		require.False(t, isThere())
	})
}

func TestNothingIsSavedBeforePreload(t *testing.T) {
	t.Parallel()
	file, err := warmstart.New(filepath.Join(t.TempDir(), "pods"), warmstart.Protobuf[corev1.Pod](), warmstart.Options{})
	require.NoError(t, err)
	require.ErrorContains(t, file.Save(), "nothing to save before Preload")
	require.ErrorContains(t, file.SaveEvery(t.Context(), 0), "needs an interval")
}

// If the file lacked an object, the next process would never receive that object.
func TestStoreThatLacksAnObjectIsNotSaved(t *testing.T) {
	broken := errors.New("broken")
	reject := func(client *rest.Client) listwatch.Source[*corev1.Pod] {
		return sources.Transform(podsOf(rest.ResourceOptions{})(client), func(pod *corev1.Pod) (*corev1.Pod, error) {
			if pod.Labels["app"] == "bad" {
				return nil, broken
			}
			return pod, nil
		})
	}
	refuse := func(o *informer.Options[*corev1.Pod]) {
		o.Store.Indexes = map[string]indexer.IndexFunc[*corev1.Pod]{"app": func(pod *corev1.Pod) ([]string, error) {
			if pod.Labels["app"] == "bad" {
				return nil, broken
			}
			return nil, nil
		}}
	}
	for name, test := range map[string]struct {
		open func(*rest.Client) listwatch.Source[*corev1.Pod]
		tune func(*informer.Options[*corev1.Pod])
	}{
		"by a transform": {open: reject},
		"by an index":    {podsOf(rest.ResourceOptions{}), refuse},
		"skipped":        {reject, func(o *informer.Options[*corev1.Pod]) { o.Reflector.SkipUndecodable = true }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := cluster(t, apitest.Options{}, "one", "two")
				path := filepath.Join(t.TempDir(), "pods")
				begin := func() *started[*corev1.Pod] {
					return start(t, server, path, warmstart.Protobuf[corev1.Pod](), warmstart.Options{}, test.open, test.tune)
				}
				s := begin()
				s.synced()
				require.NoError(t, s.file.Save())
				whole, err := os.ReadFile(path)
				require.NoError(t, err)

				_, err = server.Create(pod("hidden", "bad"))
				require.NoError(t, err)
				_, err = server.Create(pod("three", "web"))
				require.NoError(t, err)
				time.Sleep(time.Second)
				err = s.file.Save()
				require.ErrorIs(t, err, warmstart.ErrIncomplete)
				require.ErrorIs(t, err, reflector.ErrUndecodable)
				require.ErrorContains(t, err, "shop/hidden")
				after, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, whole, after)
				names, err := os.ReadDir(filepath.Dir(path))
				require.NoError(t, err)
				require.Len(t, names, 1)
				s.end()

				// The next process continues from the earlier file, and so receives the object.
				s = begin()
				time.Sleep(time.Second)
				require.Equal(t, 1, s.informer.Status().Undecodable.Count)
				require.ErrorIs(t, s.file.Save(), warmstart.ErrIncomplete)
				_, err = server.Update(pod("hidden", "good"))
				require.NoError(t, err)
				s.synced()
				require.NoError(t, s.informer.Store().WaitRV(t.Context(), server.ResourceVersion()))
				synctest.Wait()
				require.NoError(t, s.file.Save(), "the store is complete")
				s.end()
				s = begin()
				s.synced()
				_, ok := s.informer.Store().Get(types.NamespacedName{Namespace: "shop", Name: "hidden"})
				require.True(t, ok)
				s.end()
			})
		})
	}
}

// A failing part makes a store incomplete too.
func TestStoreThatLacksAPartIsNotSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := cluster(t, apitest.Options{BookmarkInterval: 10 * time.Second}, "one")
		path := filepath.Join(t.TempDir(), "pods")
		merged := func(client *rest.Client) listwatch.Source[*corev1.Pod] {
			return sources.MergeWith(sources.MergeOptions{Tolerate: apierrors.IsForbidden},
				podsOf(rest.ResourceOptions{Namespace: "shop"})(client), podsOf(rest.ResourceOptions{Namespace: "blog"})(client))
		}
		forbidden := server.Inject(apitest.Fault{Match: func(r apitest.Request) bool { return r.Namespace == "blog" }, Action: apitest.Code(403, 0)})
		s := start(t, server, path, warmstart.Protobuf[corev1.Pod](), warmstart.Options{}, merged, nil)
		s.synced()
		require.ErrorIs(t, s.file.Save(), warmstart.ErrIncomplete)
		require.NoFileExists(t, path)
		forbidden.Remove()
		time.Sleep(10 * time.Minute)
		require.Empty(t, s.informer.Status().Parts)
		require.NoError(t, s.file.Save())
		s.end()
		s = start(t, server, path, warmstart.Protobuf[corev1.Pod](), warmstart.Options{}, merged, nil)
		s.synced()
		_, cold := s.received()
		require.NoError(t, cold)
		s.end()
	})
}

// A save that fails is logged when the failures begin, and every five minutes while they last.
func TestSaveThatFailsIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := cluster(t, apitest.Options{}, "one")
		dir := filepath.Join(t.TempDir(), "sub")
		var log bytes.Buffer
		opts := warmstart.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
		s := start(t, server, filepath.Join(dir, "pods"), warmstart.Protobuf[corev1.Pod](), opts, podsOf(rest.ResourceOptions{}), nil)
		s.synced()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.file.SaveEvery(ctx, 10*time.Second) }()
		time.Sleep(12 * time.Minute)
		require.NoError(t, os.Mkdir(dir, 0o700))
		time.Sleep(time.Minute)
		cancel()
		require.NoError(t, <-ended)
		s.end()
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		require.Len(t, lines, 4)
		for _, line := range lines[:3] {
			require.Contains(t, line, `level=WARN msg="The store could not be saved`)
			require.Contains(t, line, "no such file or directory")
		}
		require.Contains(t, lines[1], "unlogged=29")
		require.Contains(t, lines[3], `level=INFO msg="The store is saved again"`)
	})
}

// A slow save does not replace the result of a save that began later.
func TestSlowSaveDoesNotReplaceALaterOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := cluster(t, apitest.Options{}, "one")
		path := filepath.Join(t.TempDir(), "pods")
		codec := warmstart.Protobuf[corev1.Pod]()
		encode, waits, slow := codec.Encode, true, make(chan struct{})
		codec.Encode = func(pod *corev1.Pod) ([]byte, error) {
			if waits {
				waits = false
				<-slow
			}
			return encode(pod)
		}
		s := start(t, server, path, codec, warmstart.Options{}, podsOf(rest.ResourceOptions{}), nil)
		s.synced()
		saved := make(chan error, 1)
		go func() { saved <- s.file.Save() }()
		synctest.Wait()
		_, err := server.Create(pod("two", "web"))
		require.NoError(t, err)
		require.NoError(t, s.informer.Store().WaitRV(t.Context(), server.ResourceVersion()))
		require.NoError(t, s.file.Save())
		close(slow)
		require.NoError(t, <-saved)
		s.end()
		names, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		require.Len(t, names, 1)
		s = startPods(t, server, path)
		time.Sleep(time.Minute)
		events, _ := s.received()
		require.Equal(t, []string{"Added one initial", "Added two initial"}, events)
		s.end()
	})
}

// Save may be called during and after the end of Run: it writes a state that the store had.
func TestSaveWhileRunEnds(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			server := cluster(t, apitest.Options{}, "one")
			path := filepath.Join(t.TempDir(), "pods")
			s := startPods(t, server, path)
			s.synced()
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.file.SaveEvery(ctx, time.Hour) }()
			_, err := server.Create(pod("two", "web"))
			require.NoError(t, err)
			go cancel()
			s.end()
			require.NoError(t, <-ended)
			require.NoError(t, s.file.Save())
			s = startPods(t, server, path)
			s.synced()
			require.NoError(t, s.informer.Store().WaitRV(t.Context(), server.ResourceVersion()))
			events, preloadErr := s.received()
			require.NoError(t, preloadErr)
			require.Len(t, events, 2)
			s.end()
		})
	}
}
