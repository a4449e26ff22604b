package warmstart_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/warmstart"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func pod(name, app string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": app}}}
}

// setUp creates the namespace kube-system on a server, which identifies the cluster.
func setUp(t *testing.T, server *apitest.Server) {
	_, err := server.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}})
	require.NoError(t, err)
}

// runProcess is one process: it starts from the file, syncs, catches up with the server, saves and
// ends. It returns the events of its handler, and the error that prevented the use of the file.
func runProcess(t *testing.T, server *apitest.Server, path string) (events []string, preloadErr error) {
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
	require.NoError(t, err)
	defer client.Close()
	file, err := warmstart.New(path, warmstart.Protobuf[corev1.Pod](), warmstart.Options{OnError: func(err error) { preloadErr = err }})
	require.NoError(t, err)
	inf, err := informer.New(rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{})), informer.Options[*corev1.Pod]{Preload: file.Preload})
	require.NoError(t, err)
	var mu sync.Mutex // guards events
	_, err = inf.AddHandler(func(e informer.Event[*corev1.Pod]) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, fmt.Sprintf("%v %v %v", e.Type, e.Key.Name, e.Cause))
	}, informer.HandlerOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- inf.Run(ctx) }()
	require.NoError(t, inf.WaitForSync(ctx))
	require.NoError(t, inf.Store().WaitRV(ctx, server.ResourceVersion()))
	synctest.Wait()
	objects, _, err := server.List(pods, "")
	require.NoError(t, err)
	require.Equal(t, len(objects), inf.Store().Len())
	for _, object := range objects {
		entry, _ := inf.Store().Entry(types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()})
		require.Equal(t, object.GetResourceVersion(), entry.ResourceVersion)
	}
	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, file.Save())
	slices.Sort(events)
	return events, preloadErr
}

func TestRestartDeliversChangesSinceTheSave(t *testing.T) {
	for name, test := range map[string]struct {
		spoil  func(t *testing.T, server *apitest.Server, path string)
		cold   error
		events []string
	}{
		"the server remembers": {
			events: []string{"Added again initial", "Added again watch", "Added changed initial", "Added gone initial", "Added new watch", "Added same initial", "Deleted again watch", "Deleted gone watch", "Updated changed watch"},
		},
		"the server has forgotten": {
			spoil:  func(_ *testing.T, server *apitest.Server, _ string) { server.Compact() },
			events: []string{"Added again initial", "Added again relist", "Added changed initial", "Added gone initial", "Added new initial", "Added same initial", "Deleted again relist", "Deleted gone relist", "Updated changed relist"},
		},
		"the file is damaged": {
			spoil: func(t *testing.T, _ *apitest.Server, path string) {
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(path, data[:len(data)-1], 0o600))
			},
			cold:   warmstart.ErrDamaged,
			events: []string{"Added again initial", "Added changed initial", "Added new initial", "Added same initial"},
		},
		"the file is gone": {
			spoil:  func(t *testing.T, _ *apitest.Server, path string) { require.NoError(t, os.Remove(path)) },
			cold:   fs.ErrNotExist,
			events: []string{"Added again initial", "Added changed initial", "Added new initial", "Added same initial"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lists []string
				server := apitest.New(apitest.Options{BookmarkInterval: 10 * time.Second, OnRequest: func(r apitest.Request) {
					if r.Verb == "list" {
						lists = append(lists, r.HTTP.URL.RawQuery)
					}
				}})
				require.NoError(t, server.ListenMemory())
				defer server.Close()
				setUp(t, server)
				path := filepath.Join(t.TempDir(), "pods")
				for _, name := range []string{"same", "changed", "gone", "again"} {
					_, err := server.Create(pod(name, "web"))
					require.NoError(t, err)
				}
				events, preloadErr := runProcess(t, server, path)
				require.ErrorIs(t, preloadErr, fs.ErrNotExist)
				require.Equal(t, []string{"Added again initial", "Added changed initial", "Added gone initial", "Added same initial"}, events)

				require.NoError(t, server.Delete(pods, types.NamespacedName{Namespace: "shop", Name: "gone"}))
				require.NoError(t, server.Delete(pods, types.NamespacedName{Namespace: "shop", Name: "again"}))
				_, err := server.Create(pod("again", "web"))
				require.NoError(t, err)
				_, err = server.Update(pod("changed", "db"))
				require.NoError(t, err)
				_, err = server.Create(pod("new", "web"))
				require.NoError(t, err)
				if test.spoil != nil {
					test.spoil(t, server, path)
				}
				lists = nil
				events, preloadErr = runProcess(t, server, path)
				require.ErrorIs(t, preloadErr, test.cold)
				require.Equal(t, test.events, events)
				if test.spoil == nil {
					require.Equal(t, []string{"limit=1"}, lists, "one object, to see how far the server is")
				}
				events, preloadErr = runProcess(t, server, path)
				require.NoError(t, preloadErr, "the previous process has replaced the unusable file")
				require.Equal(t, []string{"Added again initial", "Added changed initial", "Added new initial", "Added same initial"}, events)
			})
		})
	}
}

// A later user of a shared informer need not know about the file.
func TestAFactoryStartsWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lists []string
		var listening chan struct{} // once it is set, no watch begins before it is closed
		server := apitest.New(apitest.Options{OnRequest: func(r apitest.Request) {
			if r.Verb == "list" {
				lists = append(lists, r.HTTP.URL.RawQuery)
			}
			if r.Verb == "watch" && listening != nil {
				<-listening
			}
		}})
		require.NoError(t, server.ListenMemory())
		defer server.Close()
		setUp(t, server)
		path := filepath.Join(t.TempDir(), "pods")
		_, err := server.Create(pod("old", "web"))
		require.NoError(t, err)
		_, cold := runProcess(t, server, path)
		require.ErrorIs(t, cold, fs.ErrNotExist)
		_, err = server.Create(pod("new", "web"))
		require.NoError(t, err)
		lists = nil
		listening = make(chan struct{})

		client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
		require.NoError(t, err)
		defer client.Close()
		open := func(s informer.Selection) (listwatch.Source[*corev1.Pod], error) {
			return rest.NewResource[*corev1.Pod](client, s.Resource, rest.ResourceOptions{})
		}
		file, err := warmstart.New(path, warmstart.Protobuf[corev1.Pod](), warmstart.Options{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var factory informer.Factory
		ended := make(chan error, 1)
		go func() { ended <- factory.Run(ctx) }()
		synctest.Wait() // The factory runs, so an informer starts when it is acquired.
		first, err := informer.Acquire(&factory, informer.Selection{Resource: pods}, open, informer.Options[*corev1.Pod]{Preload: file.Preload})
		require.NoError(t, err)
		second, err := informer.Acquire(&factory, informer.Selection{Resource: pods}, open, informer.Options[*corev1.Pod]{})
		require.NoError(t, err)
		require.Same(t, first.Store(), second.Store())
		var events []string
		_, err = second.AddHandler(func(e informer.Event[*corev1.Pod]) {
			events = append(events, fmt.Sprintf("%v %v %v", e.Type, e.Key.Name, e.Cause))
		}, informer.HandlerOptions{})
		require.NoError(t, err)
		close(listening) // Only now, so that the new pod is not initial.
		require.NoError(t, factory.WaitForSync(ctx))
		synctest.Wait()
		require.Equal(t, []string{"Added old initial", "Added new watch"}, events)
		require.Equal(t, []string{"limit=1"}, lists, "one object, to see how far the server is")
		require.NoError(t, file.Save())
		cancel()
		require.NoError(t, <-ended)

		events, cold = runProcess(t, server, path)
		require.NoError(t, cold)
		require.Equal(t, []string{"Added new initial", "Added old initial"}, events)
	})
}
