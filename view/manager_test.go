package view

import (
	"context"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// A manager's caches and controllers appear as they are added. Each controller is shown with the
// caches that feed it.
func TestManagerIsShownWithItsCachesAndControllers(t *testing.T) {
	t.Parallel()
	server := apitest.New(apitest.Options{})
	require.NoError(t, server.ListenMemory())
	t.Cleanup(server.Close)
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{Logger: silent})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	v, err := New(Options{})
	require.NoError(t, err)
	told := 0
	m, err := controller.New(client, controller.Options{Logger: silent, Observer: v.ControllerObserver(&controller.Observer{
		Cache: func(_ string, c controller.CacheObservers) controller.CacheObservers { told++; return c },
	})})
	require.NoError(t, err)
	v.Manager(m)
	require.Empty(t, v.Pipelines().Pipelines)
	maps := controller.For[*corev1.ConfigMap](m, rest.ResourceOptions{})
	secrets := controller.For[*corev1.Secret](m, rest.ResourceOptions{})
	done := make(chan string, 10)
	controller.Manage(m, "greet", maps, func(_ context.Context, object *corev1.ConfigMap) (controller.Result, error) {
		done <- object.Name
		return controller.Done, nil
	}, controller.Settings[*corev1.ConfigMap]{})
	controller.Manage(m, "hide", secrets, func(_ context.Context, object *corev1.Secret) (controller.Result, error) {
		done <- object.Name
		return controller.Done, nil
	}, controller.Settings[*corev1.Secret]{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	defer func() { cancel(); require.NoError(t, <-ended) }()
	require.Eventually(t, func() bool { return m.Ready() == nil }, time.Minute, 5*time.Millisecond)
	require.Equal(t, 2, told)
	r := &rig{server: server, view: v}
	served := httptest.NewServer(v)
	defer served.Close()
	defer v.Close()
	r.url = served.URL + "/"

	next := r.stream(t, "?of=secrets")
	require.Equal(t, "secrets", next().Hello.Name)
	secret := &corev1.Secret{Data: map[string][]byte{"password": []byte("hunter2-hunter2")}}
	secret.Namespace, secret.Name = "shop", "key"
	_, err = server.Create(secret)
	require.NoError(t, err)
	require.Equal(t, "key", <-done)
	var whats []string
	for len(whats) < 5 {
		f := next().Frame
		require.Len(t, f.Boxes, 7)
		require.Equal(t, "hide", f.Boxes[5].Name, "greet has no handler at secrets")
		for _, e := range f.Events {
			if e.Key == "shop/key" {
				whats = append(whats, e.What)
			}
		}
	}
	require.Subset(t, whats, []string{Received, Delta, Queued, Taken})
	var names []string
	for _, p := range v.Pipelines().Pipelines {
		names = append(names, p.Kind+" "+p.Name)
		require.Empty(t, p.Problems)
	}
	require.ElementsMatch(t, []string{"informer configmaps", "informer secrets", "queue greet", "queue hide"}, names)
	code, text, _ := r.ask(t, "GET", "parts", "", nil)
	require.Equal(t, 200, code)
	require.NotContains(t, text, "hunter2")
}

// Several controllers share one cache, which has the observer of the first controller. The cache's
// events are shown for any number of controllers.
func TestSharedCacheIsShown(t *testing.T) {
	t.Parallel()
	server := apitest.New(apitest.Options{})
	require.NoError(t, server.ListenMemory())
	t.Cleanup(server.Close)
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{Logger: silent})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	v, err := New(Options{})
	require.NoError(t, err)
	m, err := controller.New(client, controller.Options{Logger: silent, Observer: v.ControllerObserver(nil)})
	require.NoError(t, err)
	v.Manager(m)
	for _, name := range []string{"greet", "count"} {
		maps := controller.For[*corev1.ConfigMap](m, rest.ResourceOptions{})
		controller.Manage(m, name, maps, func(context.Context, *corev1.ConfigMap) (controller.Result, error) {
			return controller.Done, nil
		}, controller.Settings[*corev1.ConfigMap]{})
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	defer func() { cancel(); require.NoError(t, <-ended) }()
	require.Eventually(t, func() bool { return m.Ready() == nil }, time.Minute, 5*time.Millisecond)
	requireEvents(t, v, "configmaps", server)
}

// Several users share an informer, and the page shows it once. After the last user has released the
// informer, another acquire makes a new informer.
func TestSharedInformerIsShown(t *testing.T) {
	t.Parallel()
	server := apitest.New(apitest.Options{})
	require.NoError(t, server.ListenMemory())
	t.Cleanup(server.Close)
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{Logger: silent})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	v, err := New(Options{})
	require.NoError(t, err)
	var f informer.Factory
	v.Factory(&f)
	acquire := func() *informer.Handle[*corev1.ConfigMap] {
		what := informer.Selection{Resource: corev1.SchemeGroupVersion.WithResource("configmaps")}
		h, err := informer.Acquire(&f, what, func(informer.Selection) (listwatch.Source[*corev1.ConfigMap], error) {
			return rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{})
		}, InformerOptions(v, informer.Options[*corev1.ConfigMap]{Name: "configmaps", Logger: silent}))
		require.NoError(t, err)
		return h
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	defer func() { cancel(); require.NoError(t, <-ended) }()
	one, two := acquire(), acquire()
	require.NoError(t, one.WaitForSync(ctx))
	requireEvents(t, v, "configmaps", server)
	require.NoError(t, one.Release(ctx))
	require.NoError(t, two.Release(ctx))
	for range 1000 {
		require.NoError(t, acquire().Release(ctx))
	}
	one = acquire()
	acquire()
	require.NoError(t, one.WaitForSync(ctx))
	requireEvents(t, v, "configmaps", server)
	require.Less(t, len(v.recorders.informers.byName["configmaps"]), 100, "recorders of removed informers must be dropped")
}

// requireEvents views a pipeline until a frame has events of a change.
func requireEvents(t *testing.T, v *View, name string, server *apitest.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, frames, err := v.Frames(ctx, name)
	require.NoError(t, err)
	told := map[string]bool{}
	for f := range frames {
		o := &corev1.ConfigMap{}
		o.Namespace, o.GenerateName = "shop", "key-"
		_, err := server.Create(o)
		require.NoError(t, err)
		for _, e := range f.Events {
			told[e.What] = true
		}
		if told[Received] && told[Delta] && f.Boxes[1].Numbers["events"] > 3 {
			return
		}
	}
	require.Fail(t, "no events", "%v", told)
}

// The traffic includes the clients of a cluster that is added later.
func TestClientsOfClustersAddedLater(t *testing.T) {
	t.Parallel()
	v, err := New(Options{})
	require.NoError(t, err)
	m := &clusters{client(t)}
	v.Manager(m)
	Queue(v, workqueue.New(workqueue.Options[string]{Name: "jobs", Logger: silent}))
	*m = append(*m, client(t))
	v.Pipelines()
	v.Pipelines()
	require.True(t, slices.Equal(*m, v.clients))
}

func client(t *testing.T) *rest.Client {
	c, err := rest.NewClient(rest.Config{Host: "http://127.0.0.1:1"}, rest.Options{Logger: silent})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

type clusters []*rest.Client

func (c clusters) Status() (s controller.Status) {
	for _, client := range c {
		s.Clusters = append(s.Clusters, controller.ClusterStatus{Client: client})
	}
	return s
}

func TestFactoryIsShown(t *testing.T) {
	t.Parallel()
	v, err := New(Options{})
	require.NoError(t, err)
	v.Factory(some{{Status: informer.Status{Name: "pods"}}, {Status: informer.Status{Name: "nodes"}}, {Status: informer.Status{Name: "pods"}}})
	all := v.Pipelines().Pipelines
	require.Len(t, all, 3)
	require.Equal(t, []string{"pods", "nodes", "pods~2"}, []string{all[0].Name, all[1].Name, all[2].Name})
	require.Equal(t, []string{"not synced: idle"}, all[0].Problems)
	hello, _, err := v.Frames(t.Context(), "nodes")
	require.NoError(t, err)
	require.Equal(t, "nodes", hello.Name)
}

type some []informer.SharedStatus

func (s some) Status() []informer.SharedStatus { return s }
