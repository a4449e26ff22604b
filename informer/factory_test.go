package informer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// factoryRig is a server and a factory on it.
type factoryRig struct {
	t       *testing.T
	server  *apitest.Server
	client  *rest.Client
	factory informer.Factory
	stop    context.CancelFunc
	ended   chan error
}

func newWorkshop(t *testing.T) *factoryRig {
	server := apitest.New(apitest.Options{BookmarkInterval: 10 * time.Second})
	require.NoError(t, server.ListenMemory())
	t.Cleanup(server.Close)
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return &factoryRig{t: t, server: server, client: client, stop: func() {}}
}

func (w *factoryRig) run() {
	ctx, cancel := context.WithCancel(w.t.Context())
	w.stop, w.ended = cancel, make(chan error, 1)
	go func() { w.ended <- w.factory.Run(ctx) }()
	synctest.Wait()
}

func (w *factoryRig) openPods(s informer.Selection) (listwatch.Source[*corev1.Pod], error) {
	return rest.NewResource[*corev1.Pod](w.client, s.Resource, rest.ResourceOptions{
		Namespace: s.Namespace(), LabelSelector: s.LabelSelector, FieldSelector: s.FieldSelector,
	})
}

func (w *factoryRig) acquire(s informer.Selection) *informer.Handle[*corev1.Pod] {
	s.Resource = pods
	handle, err := informer.Acquire(&w.factory, s, w.openPods, informer.Options[*corev1.Pod]{})
	require.NoError(w.t, err)
	return handle
}

func TestFactorySharesOneInformerPerSelection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t)
		_, err := w.server.Create(newPod(key(0)))
		require.NoError(t, err)
		a := w.acquire(informer.Selection{Namespaces: []string{"ns-1", "ns-0", "ns-1"}})
		b := w.acquire(informer.Selection{Namespaces: []string{"ns-0", "ns-1"}})
		other := w.acquire(informer.Selection{})
		require.Same(t, a.Store(), b.Store())
		require.NotSame(t, a.Store(), other.Store())
		received := &receivedEvents{}
		_, err = b.AddHandler(received.handle, informer.HandlerOptions{})
		require.NoError(t, err)
		require.Zero(t, w.server.Watches(""), "no informer runs before the factory runs")

		w.run()
		require.NoError(t, w.factory.WaitForSync(t.Context()))
		synctest.Wait()
		require.Equal(t, 3, w.server.Watches(""), "one watch for each of two namespaces, and one for all namespaces")
		require.Equal(t, []string{"Added pod-0 initial"}, received.take())
		status := w.factory.Status()
		require.Len(t, status, 2)
		require.Equal(t, "pods in ns-0+ns-1", status[1].Selection.String())
		require.Equal(t, 2, status[1].Users)
		require.Equal(t, "*v1.Pod", status[1].Type)

		require.NoError(t, b.Release(t.Context()))
		require.NoError(t, b.Release(t.Context()), "a second Release does nothing")
		_, err = w.server.Create(newPod(key(1)))
		require.NoError(t, err)
		synctest.Wait()
		require.Empty(t, received.take(), "Release has removed the user's handlers")
		require.Equal(t, 2, a.Store().Len(), "the informer still runs for the other user")
		_, err = b.AddHandler(received.handle, informer.HandlerOptions{})
		require.ErrorIs(t, err, informer.ErrReleased)

		require.NoError(t, a.Release(t.Context()))
		synctest.Wait()
		require.Equal(t, 1, w.server.Watches(""), "the informer stops with its last user (G10)")
		again := w.acquire(informer.Selection{Namespaces: []string{"ns-0", "ns-1"}})
		require.NotSame(t, a.Store(), again.Store())
		require.NoError(t, again.WaitForSync(t.Context()), "an informer acquired while the factory runs starts at once")

		w.stop()
		require.NoError(t, <-w.ended)
		synctest.Wait()
		require.Zero(t, w.server.Watches(""))
		require.NoError(t, again.Release(t.Context()))
		_, err = informer.Acquire(&w.factory, informer.Selection{Resource: pods}, w.openPods, informer.Options[*corev1.Pod]{})
		require.ErrorIs(t, err, informer.ErrStopped)
		require.ErrorIs(t, w.factory.Run(t.Context()), informer.ErrAlreadyRun)
	})
}

func TestHandleIsReleasedBeforeTheFactoryRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t)
		a := w.acquire(informer.Selection{})
		_, err := a.AddHandler(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{})
		require.NoError(t, err)
		require.NoError(t, a.Release(t.Context()))
		require.Empty(t, w.factory.Status())
	})
}

func TestHandlerReleasesItsOwnHandle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t)
		a := w.acquire(informer.Selection{})
		_, err := w.server.Create(newPod(key(0)))
		require.NoError(t, err)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		released := make(chan error, 1)
		_, err = a.AddHandler(func(informer.Event[*corev1.Pod]) { released <- a.Release(over) }, informer.HandlerOptions{})
		require.NoError(t, err)
		w.run()
		require.ErrorIs(t, <-released, context.Canceled)
		require.NoError(t, a.Release(t.Context()))
		require.Zero(t, w.server.Watches(""))
		w.stop()
		require.NoError(t, <-w.ended)
	})
}

func TestConflictErrorNamesBothUsers(t *testing.T) { // D25, SI-33
	t.Parallel()
	w := &factoryRig{t: t, client: nowhere(t)}
	want := informer.Options[*corev1.Pod]{Name: "first", Reflector: reflector.Options{PageSize: 100, OnError: func(reflector.Error) {}}}
	acquire := func(o informer.Options[*corev1.Pod]) error {
		_, err := informer.Acquire(&w.factory, informer.Selection{Resource: pods}, w.openPods, o)
		return err
	}
	require.NoError(t, acquire(want))
	same := want
	same.Name = "second"
	require.NoError(t, acquire(same), "users may choose different names")

	for option, change := range map[string]func(*informer.Options[*corev1.Pod]){
		"Reflector.PageSize (100 and 7)":          func(o *informer.Options[*corev1.Pod]) { o.Reflector.PageSize = 7 },
		"Reflector.ListMode (Auto and WatchList)": func(o *informer.Options[*corev1.Pod]) { o.Reflector.ListMode = reflector.WatchList },
		"Reflector.Backoff.Max (0s and 1s)":       func(o *informer.Options[*corev1.Pod]) { o.Reflector.Backoff.Max = time.Second },
		"Store.Indexes[node] (only one user has this key)": func(o *informer.Options[*corev1.Pod]) {
			o.Store.Indexes = map[string]indexer.IndexFunc[*corev1.Pod]{"node": nil}
		},
	} {
		other := want
		change(&other)
		err := acquire(other)
		conflict, ok := errors.AsType[*informer.ConflictError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, option, conflict.Option)
		require.Contains(t, conflict.First, "factory_test.go:")
		require.Contains(t, conflict.Second, "factory_test.go:")
		require.ErrorContains(t, err, "pods as *v1.Pod is shared")
	}

	slim := informer.Options[*corev1.Pod]{Reflector: reflector.Options{PageSize: 7}}
	_, err := informer.Acquire(&w.factory, informer.Selection{Resource: pods, Projection: "slim"}, w.openPods, slim)
	require.NoError(t, err, "another projection leads to another informer")
	partial := func(s informer.Selection) (listwatch.Source[*metav1.PartialObjectMetadata], error) {
		return rest.NewResource[*metav1.PartialObjectMetadata](w.client, s.Resource, rest.ResourceOptions{})
	}
	_, err = informer.Acquire(&w.factory, informer.Selection{Resource: pods}, partial, informer.Options[*metav1.PartialObjectMetadata]{})
	require.NoError(t, err, "another type leads to another informer")
	require.Len(t, w.factory.Status(), 3)
}

// podsBy returns an index function by a label. If the compiler inlines a call, the closure of that
// call has code of its own.
//
//go:noinline
func podsBy(label string) indexer.IndexFunc[*corev1.Pod] {
	return func(pod *corev1.Pod) ([]string, error) { return []string{pod.Labels[label]}, nil }
}

// labelIndex has an index method that depends on its field.
type labelIndex struct{ label string }

func (s *labelIndex) index(pod *corev1.Pod) ([]string, error) {
	return []string{pod.Labels[s.label]}, nil
}

func podsByNode(pod *corev1.Pod) ([]string, error) { return []string{pod.Spec.NodeName}, nil }

func byName[T metav1.Object](object T) ([]string, error) { return []string{object.GetName()}, nil }

// Two functions with the same code may compute different values. So two functions count as equal
// only if they are certainly the same.
func TestAnIndexIsSharedOnlyIfItsFunctionIsCertainlyTheSame(t *testing.T) {
	t.Parallel()
	once := podsBy("app")
	one := &labelIndex{"app"}
	for name, c := range map[string]struct {
		first, second func() indexer.IndexFunc[*corev1.Pod]
		same          bool
	}{
		"a function of a package":    {func() indexer.IndexFunc[*corev1.Pod] { return podsByNode }, func() indexer.IndexFunc[*corev1.Pod] { return podsByNode }, true},
		"a function of type":         {func() indexer.IndexFunc[*corev1.Pod] { return byName[*corev1.Pod] }, func() indexer.IndexFunc[*corev1.Pod] { return byName[*corev1.Pod] }, true},
		"one closure":                {func() indexer.IndexFunc[*corev1.Pod] { return once }, func() indexer.IndexFunc[*corev1.Pod] { return once }, true},
		"two closures":               {func() indexer.IndexFunc[*corev1.Pod] { return podsBy("app") }, func() indexer.IndexFunc[*corev1.Pod] { return podsBy("tier") }, false},
		"two closures that do equal": {func() indexer.IndexFunc[*corev1.Pod] { return podsBy("app") }, func() indexer.IndexFunc[*corev1.Pod] { return podsBy("app") }, false},
		"methods of two values":      {func() indexer.IndexFunc[*corev1.Pod] { return one.index }, func() indexer.IndexFunc[*corev1.Pod] { return (&labelIndex{"tier"}).index }, false},
		"two functions":              {func() indexer.IndexFunc[*corev1.Pod] { return podsByNode }, func() indexer.IndexFunc[*corev1.Pod] { return byName[*corev1.Pod] }, false},
	} {
		w := &factoryRig{t: t, client: nowhere(t)}
		acquire := func(fn indexer.IndexFunc[*corev1.Pod]) error {
			_, err := informer.Acquire(&w.factory, informer.Selection{Resource: pods}, w.openPods, informer.Options[*corev1.Pod]{
				Store: indexer.Options[*corev1.Pod]{Indexes: map[string]indexer.IndexFunc[*corev1.Pod]{"x": fn}},
			})
			return err
		}
		require.NoError(t, acquire(c.first()), name)
		err := acquire(c.second())
		if c.same {
			require.NoError(t, err, name)
			continue
		}
		conflict, ok := errors.AsType[*informer.ConflictError](err)
		require.True(t, ok, "%s: %v", name, err)
		require.Contains(t, conflict.Option, "Store.Indexes[x] (the functions may differ", name)
		require.ErrorContains(t, err, "package-level function or variable", name)
	}
}

// A user's loggers and observers have no effect on other users, so they may differ.
func TestDifferentLoggersAndObserversDoNotConflict(t *testing.T) {
	t.Parallel()
	w := &factoryRig{t: t, client: nowhere(t)}
	for n := range 2 {
		logger := slog.New(slog.DiscardHandler).With("n", n)
		_, err := informer.Acquire(&w.factory, informer.Selection{Resource: pods}, w.openPods, informer.Options[*corev1.Pod]{
			Name:   fmt.Sprint(n),
			Logger: logger,
			Reflector: reflector.Options{
				Logger: logger, Observer: &reflector.Observer{}, OnError: func(err reflector.Error) { logger.Error(err.Error()) },
			},
			Queue:    deltafifo.Options{Observer: &deltafifo.Observer{}},
			Store:    indexer.Options[*corev1.Pod]{Observer: &indexer.Observer{}},
			Observer: &informer.Observer{},
			Preload:  func(*informer.Informer[*corev1.Pod]) error { return nil },
		})
		require.NoError(t, err)
	}
	require.Len(t, w.factory.Status(), 1)
	require.Equal(t, 2, w.factory.Status()[0].Users)
}

func TestInvalidSelectionsAreRefused(t *testing.T) {
	t.Parallel()
	w := &factoryRig{t: t, client: nowhere(t)}
	_, err := informer.Acquire(&w.factory, informer.Selection{}, w.openPods, informer.Options[*corev1.Pod]{})
	require.ErrorContains(t, err, "needs a Resource")
	_, err = informer.Acquire(&w.factory, informer.Selection{Resource: pods, Namespaces: []string{"a", ""}}, w.openPods, informer.Options[*corev1.Pod]{})
	require.ErrorContains(t, err, "either all namespaces")
	_, err = informer.Acquire[*corev1.Pod](&w.factory, informer.Selection{Resource: pods}, nil, informer.Options[*corev1.Pod]{})
	require.ErrorContains(t, err, "needs a function")
	require.Equal(t, "widgets.v1.example.com in a+b, labels app=web, fields x=y, projection slim", informer.Selection{
		Resource: widgets, Namespaces: []string{"a", "b"}, LabelSelector: "app=web", FieldSelector: "x=y", Projection: "slim",
	}.String())
}

func TestAnOpenThatReturnsNoSourceIsAnError(t *testing.T) {
	t.Parallel()
	w := &factoryRig{t: t, client: nowhere(t)}
	nothing := func(informer.Selection) (listwatch.Source[*corev1.Pod], error) { return nil, nil }
	nilPointer := func(informer.Selection) (listwatch.Source[*corev1.Pod], error) {
		return (*rest.Resource[*corev1.Pod])(nil), nil
	}
	notInB := func(s informer.Selection) (listwatch.Source[*corev1.Pod], error) {
		if slices.Contains(s.Namespaces, "b") {
			return nil, nil
		}
		return w.openPods(s)
	}
	wrong := func(s informer.Selection) (listwatch.Source[*corev1.Pod], error) {
		return rest.For[*corev1.Pod](w.client, rest.ResourceOptions{Namespace: s.Namespace(), LabelSelector: "a in"})
	}
	for name, c := range map[string]struct {
		open       func(informer.Selection) (listwatch.Source[*corev1.Pod], error)
		namespaces []string
		want       string
	}{
		"all namespaces":   {nothing, nil, "open returned no source for pods"},
		"one namespace":    {nothing, []string{"a"}, "open returned no source for pods in a"},
		"one of several":   {notInB, []string{"a", "b"}, "open returned no source for pods in b"},
		"an error":         {wrong, []string{"a"}, "informer: Acquire: open pods in a: rest: ResourceOptions.LabelSelector"},
		"a pointer to nil": {nilPointer, nil, "open returned no source for pods"},
	} {
		_, err := informer.Acquire(&w.factory, informer.Selection{Resource: pods, Namespaces: c.namespaces}, c.open, informer.Options[*corev1.Pod]{})
		require.ErrorContains(t, err, c.want, name)
		require.Empty(t, w.factory.Status(), name)
	}
}

var (
	widgets     = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

func (w *factoryRig) acquireWidgets() *informer.Handle[*unstructured.Unstructured] {
	handle, err := informer.Acquire(&w.factory, informer.Selection{Resource: widgets}, func(s informer.Selection) (listwatch.Source[*unstructured.Unstructured], error) {
		return rest.NewJSONResource[*unstructured.Unstructured](w.client, s.Resource, rest.ResourceOptions{})
	}, informer.Options[*unstructured.Unstructured]{})
	require.NoError(w.t, err)
	return handle
}

func (w *factoryRig) define() {
	_, err := w.server.Create(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Cluster",
			"names":    map[string]any{"plural": "widgets", "kind": "Widget"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true}},
		},
	}})
	require.NoError(w.t, err)
}

func TestMissingDefinitionIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t)
		handle := w.acquireWidgets()
		w.acquire(informer.Selection{})
		w.run()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		err := w.factory.WaitForSync(ctx)
		require.ErrorContains(t, err, "1 of 2 informers are not synced: informer widgets is not synced")
		require.True(t, apierrors.IsNotFound(err), "%v", err)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		status := w.factory.Status()
		require.False(t, status[0].Waiting, "pods")
		require.True(t, status[1].Waiting, "widgets")

		w.define()
		require.NoError(t, w.factory.WaitForSync(t.Context()))
		// The store may be synced a moment before the reflector records its success.
		synctest.Wait()
		require.False(t, w.factory.Status()[1].Waiting)
		_, err = w.server.Create(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"},
		}})
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, 1, handle.Store().Len())
		w.stop()
		require.NoError(t, <-w.ended)
	})
}

func TestDefinitionWakesItsWaitingInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t)
		handle := w.acquireWidgets()
		crds, err := informer.Acquire(&w.factory, informer.Selection{Resource: definitions}, func(s informer.Selection) (listwatch.Source[*metav1.PartialObjectMetadata], error) {
			return rest.NewResource[*metav1.PartialObjectMetadata](w.client, s.Resource, rest.ResourceOptions{})
		}, informer.Options[*metav1.PartialObjectMetadata]{})
		require.NoError(t, err)
		_, err = crds.AddHandler(func(e informer.Event[*metav1.PartialObjectMetadata]) {
			w.factory.Wake(schema.ParseGroupResource(e.Key.Name))
		}, informer.HandlerOptions{})
		require.NoError(t, err)
		w.run()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.Greater(t, time.Until(handle.Status().Reflector.NextRetry), time.Second, "without Wake, the informer would wait for more than a second")
		began := time.Now()
		w.define()
		require.NoError(t, handle.WaitForSync(t.Context()))
		require.Less(t, time.Since(began), 100*time.Millisecond)
		w.stop()
		require.NoError(t, <-w.ended)
	})
}

func TestFactoryIsSafeForConcurrentUse(t *testing.T) {
	w := newWorkshop(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.factory.Run(ctx) }()
	users := make(chan error)
	for n := range 8 {
		go func() {
			for i := range 30 {
				handle, err := informer.Acquire(&w.factory, informer.Selection{Resource: pods, LabelSelector: fmt.Sprintf("n=%d", (n+i)%3)}, w.openPods, informer.Options[*corev1.Pod]{})
				if err == nil {
					err = handle.WaitForSync(ctx)
				}
				if err == nil {
					_, err = handle.AddHandler(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{})
				}
				w.factory.Status()
				if err == nil {
					err = handle.Release(ctx)
				}
				if err != nil {
					users <- err
					return
				}
			}
			users <- nil
		}()
	}
	for range 8 {
		require.NoError(t, <-users)
	}
	require.Empty(t, w.factory.Status())
	cancel()
	require.NoError(t, <-ended)
}

// The health of shared informers is available for each handle, or for all at once.
func TestFactoryNamesUnhealthyInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t)
		require.NoError(t, w.factory.Healthy(time.Minute), "a factory without users is healthy")
		open := func(s informer.Selection) (listwatch.Source[*corev1.Pod], error) {
			all, err := w.openPods(s)
			return sources.Transform(all, func(pod *corev1.Pod) (*corev1.Pod, error) {
				if pod.Labels["bad"] != "" {
					return nil, errRejected
				}
				return pod, nil
			}), err
		}
		var handles []*informer.Handle[*corev1.Pod]
		for _, namespace := range []string{"ns-0", "ns-1"} {
			handle, err := informer.Acquire(&w.factory, informer.Selection{Resource: pods, Namespaces: []string{namespace}}, open, informer.Options[*corev1.Pod]{Name: namespace})
			require.NoError(t, err)
			require.ErrorIs(t, handle.Healthy(time.Minute), informer.ErrNotSynced)
			handles = append(handles, handle)
		}
		w.run()
		require.NoError(t, w.factory.WaitForSync(t.Context()))
		require.NoError(t, w.factory.Healthy(time.Minute))
		bad := newPod(key(1))
		bad.Labels["bad"] = "yes"
		_, err := w.server.Create(bad)
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, handles[0].Healthy(time.Minute))
		for _, err := range []error{handles[1].Healthy(time.Minute), w.factory.Healthy(time.Minute)} {
			require.ErrorIs(t, err, reflector.ErrUndecodable)
			require.ErrorContains(t, err, "informer ns-1 is not healthy: ")
			require.ErrorContains(t, err, key(1).String())
		}
		w.stop()
		require.NoError(t, <-w.ended)
		require.ErrorIs(t, w.factory.Healthy(time.Minute), informer.ErrStopped)
	})
}

// releasingSource is a source whose user releases the informer when FailingParts is called.
type releasingSource struct {
	listwatch.Source[*corev1.Pod]
	leave func()
}

func (l *releasingSource) FailingParts() []sources.PartFailure {
	if leave := l.leave; leave != nil {
		l.leave = nil
		leave()
	}
	return nil
}

// An informer that is released during Healthy does not affect the result.
func TestFactoryHealthIgnoresInformersReleasedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t)
		source := &releasingSource{}
		open := func(s informer.Selection) (listwatch.Source[*corev1.Pod], error) {
			var err error
			source.Source, err = w.openPods(s)
			return source, err
		}
		handle, err := informer.Acquire(&w.factory, informer.Selection{Resource: pods}, open, informer.Options[*corev1.Pod]{})
		require.NoError(t, err)
		w.run()
		require.NoError(t, w.factory.WaitForSync(t.Context()))
		source.leave = func() { require.NoError(t, handle.Release(t.Context())) }
		require.NoError(t, w.factory.Healthy(time.Minute))
		require.Nil(t, source.leave)
		w.stop()
		require.NoError(t, <-w.ended)
	})
}
