package view

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
)

// A manager's caches and controllers are shown as they come, each controller beside the caches that feed it.
func TestManagerIsShownWithAllItsParts(t *testing.T) {
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
	require.Empty(t, v.Parts().Parts)
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
	require.Eventually(t, func() bool { return m.Ready() == nil }, 20*time.Second, 5*time.Millisecond)
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
	for _, p := range v.Parts().Parts {
		names = append(names, p.Kind+" "+p.Name)
		require.Empty(t, p.Wrong)
	}
	require.ElementsMatch(t, []string{"informer configmaps", "informer secrets", "queue greet", "queue hide"}, names)
	code, text, _ := r.ask(t, "GET", "parts", "", nil)
	require.Equal(t, 200, code)
	require.NotContains(t, text, "hunter2")
}

func TestFactoryIsShown(t *testing.T) {
	t.Parallel()
	v, err := New(Options{})
	require.NoError(t, err)
	v.Factory(some{{Status: informer.Status{Name: "pods"}}, {Status: informer.Status{Name: "nodes"}}, {Status: informer.Status{Name: "pods"}}})
	all := v.Parts().Parts
	require.Len(t, all, 3)
	require.Equal(t, []string{"pods", "nodes", "pods~2"}, []string{all[0].Name, all[1].Name, all[2].Name})
	require.Equal(t, []string{"not synced: idle"}, all[0].Wrong)
	hello, _, err := v.Frames(t.Context(), "nodes")
	require.NoError(t, err)
	require.Equal(t, "nodes", hello.Name)
}

type some []informer.SharedStatus

func (s some) Status() []informer.SharedStatus { return s }
