package finalizer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/finalizer"
)

const ours = "example.com/ours"

var (
	web  = types.NamespacedName{Namespace: "shop", Name: "web"}
	gvr  = corev1.SchemeGroupVersion.WithResource("pods")
	fine = func(context.Context, *corev1.Pod) error { return nil }
)

// fixture is a server with a pod.
type fixture struct {
	t      *testing.T
	server *apitest.Server
	pods   *rest.Resource[*corev1.Pod]
}

func start(t *testing.T, opts apitest.Options, finalizers ...string) *fixture {
	server := apitest.Start(t, opts)
	client, err := rest.NewClient(rest.Config{Host: server.URL()}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	r := &fixture{t: t, server: server, pods: rest.Must(rest.NewResource[*corev1.Pod](client, gvr, rest.ResourceOptions{}))}
	r.create(finalizers...)
	return r
}

func (r *fixture) create(finalizers ...string) {
	_, err := r.server.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name, Finalizers: finalizers}})
	require.NoError(r.t, err)
}

// get returns the pod on the server, or nil.
func (r *fixture) get() *corev1.Pod {
	object, err := r.server.Get(gvr, web)
	if err != nil {
		return nil
	}
	return object.(*corev1.Pod)
}

func TestHandleAddsAndRemovesTheFinalizer(t *testing.T) {
	t.Parallel()
	for _, others := range [][]string{nil, {"example.com/a"}, {"example.com/a", "example.com/b"}} {
		r := start(t, apitest.Options{}, others...)
		pod, gone, err := finalizer.Handle(t.Context(), r.pods, r.get(), ours, fine)
		require.NoError(t, err)
		require.False(t, gone)
		require.Equal(t, append(others, ours), pod.Finalizers)
		require.Equal(t, pod.ResourceVersion, r.get().ResourceVersion)
		again, gone, err := finalizer.Handle(t.Context(), r.pods, pod, ours, fine)
		require.NoError(t, err)
		require.False(t, gone)
		require.Same(t, pod, again, "without a change, Handle must return the same object")

		require.NoError(t, r.server.Delete(gvr, web))
		deleting := r.get()
		failure := errors.New("the record is locked")
		_, gone, err = finalizer.Handle(t.Context(), r.pods, deleting, ours, func(context.Context, *corev1.Pod) error { return failure })
		require.ErrorIs(t, err, failure)
		require.False(t, gone)
		require.Contains(t, r.get().Finalizers, ours, "after an error of clean, the finalizer must stay")

		cleaned := 0
		clean := func(_ context.Context, p *corev1.Pod) error { cleaned++; require.Same(t, deleting, p); return nil }
		for range 2 { // the second time with an old object
			_, gone, err = finalizer.Handle(t.Context(), r.pods, deleting, ours, clean)
			require.NoError(t, err)
			require.True(t, gone)
		}
		require.Equal(t, 2, cleaned)
		if len(others) == 0 {
			require.Nil(t, r.get())
			continue
		}
		require.Equal(t, others, r.get().Finalizers)
		_, gone, err = finalizer.Handle(t.Context(), r.pods, r.get(), ours, clean)
		require.NoError(t, err)
		require.True(t, gone)
		require.Equal(t, 2, cleaned)
	}
}

func TestStaleObjectIsHandled(t *testing.T) {
	t.Parallel()
	r := start(t, apitest.Options{}, "example.com/a", ours, "example.com/b")
	old := r.get()
	changed := old.DeepCopy()
	changed.Finalizers = []string{ours, "example.com/b", "example.com/c"}
	_, err := r.server.Update(changed)
	require.NoError(t, err)
	// The finalizer has moved from the second place to the first.
	pod, err := finalizer.Remove(t.Context(), r.pods, old, ours)
	require.NoError(t, err)
	require.Equal(t, []string{"example.com/b", "example.com/c"}, pod.Finalizers)
	require.Equal(t, pod.Finalizers, r.get().Finalizers)
	require.Equal(t, []string{"example.com/a", ours, "example.com/b"}, old.Finalizers, "Remove must not change its argument")

	stale := r.get()
	stale.Finalizers, stale.ResourceVersion = nil, old.ResourceVersion
	pod, err = finalizer.Ensure(t.Context(), r.pods, stale, ours)
	require.NoError(t, err)
	require.Equal(t, []string{"example.com/b", "example.com/c", ours}, pod.Finalizers)
}

func TestRecreatedObjectIsNotChanged(t *testing.T) {
	t.Parallel()
	r := start(t, apitest.Options{}, ours)
	old := r.get()
	require.NoError(t, r.server.Delete(gvr, web))
	_, err := finalizer.Remove(t.Context(), r.pods, r.get(), ours)
	require.NoError(t, err)
	r.create(ours)
	_, err = finalizer.Remove(t.Context(), r.pods, old, ours)
	require.NoError(t, err, "Remove must succeed if its object is gone, although another has the name")
	require.Equal(t, []string{ours}, r.get().Finalizers)

	old.Finalizers = nil
	_, err = finalizer.Ensure(t.Context(), r.pods, old, "example.com/more")
	require.ErrorIs(t, err, finalizer.ErrReplaced)
	require.Equal(t, []string{ours}, r.get().Finalizers)
}

func TestEnsureRefusesDeletingObject(t *testing.T) {
	t.Parallel()
	r := start(t, apitest.Options{}, "example.com/a")
	old := r.get()
	require.NoError(t, r.server.Delete(gvr, web))
	_, err := finalizer.Ensure(t.Context(), r.pods, old, ours)
	require.ErrorIs(t, err, finalizer.ErrDeleting)
	require.ErrorContains(t, err, "finalizer: add example.com/ours on shop/web")
	_, gone, err := finalizer.Handle(t.Context(), r.pods, old, ours, fine)
	require.NoError(t, err)
	require.True(t, gone)
}

func TestErrorsOfTheServerAreReturned(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	patches := 0
	r := start(t, apitest.Options{OnRequest: func(q apitest.Request) {
		mu.Lock()
		defer mu.Unlock()
		if q.Verb == "patch" {
			patches++
		}
	}})
	pod := r.get()
	require.NoError(t, r.server.Delete(gvr, web))
	_, err := finalizer.Ensure(t.Context(), r.pods, pod, ours)
	require.True(t, apierrors.IsNotFound(err))

	r.create()
	r.server.Inject(apitest.Fault{Verb: "patch", Action: apitest.Code(http.StatusUnprocessableEntity, 0)})
	patches = 0
	_, err = finalizer.Ensure(t.Context(), r.pods, r.get(), ours)
	require.True(t, apierrors.IsInvalid(err))
	require.Equal(t, 1, patches, "Ensure must not repeat a patch if the object has not changed")
}

func TestManyControllersShareAnObject(t *testing.T) {
	t.Parallel()
	r := start(t, apitest.Options{})
	const controllers = 6
	each := func(do func(name string, pod *corev1.Pod) error) {
		errs := make(chan error)
		pod := r.get()
		for n := range controllers {
			go func() { errs <- do(fmt.Sprintf("example.com/c%d", n), pod) }()
		}
		for range controllers {
			require.NoError(t, <-errs)
		}
	}
	each(func(name string, pod *corev1.Pod) error {
		_, _, err := finalizer.Handle(t.Context(), r.pods, pod, name, fine)
		return err
	})
	require.Len(t, r.get().Finalizers, controllers)
	require.NoError(t, r.server.Delete(gvr, web))
	each(func(name string, pod *corev1.Pod) error {
		_, gone, err := finalizer.Handle(t.Context(), r.pods, pod, name, fine)
		if err == nil && !gone {
			err = errors.New("not gone")
		}
		return err
	})
	require.Nil(t, r.get())
}
