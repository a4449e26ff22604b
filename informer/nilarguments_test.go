package informer_test

import (
	"iter"
	"testing"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/informer/predicate"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// A nil source, however deeply nested, makes New return an error. It never causes a panic. Without
// an informer, each list returns the error.
func TestANilSourceIsAnErrorOfNew(t *testing.T) {
	t.Parallel()
	type podSource = listwatch.Source[*corev1.Pod]
	w := newWorkshop(t)
	part := rest.Must(w.openPods(informer.Selection{Resource: pods}))
	same := func(pod *corev1.Pod) (*corev1.Pod, error) { return pod, nil }
	var none podSource
	var nilPointer podSource = (*rest.Resource[*corev1.Pod])(nil)
	for name, c := range map[string]struct {
		source func() podSource
		want   string
	}{
		"nil":                           {func() podSource { return none }, "informer: New needs a source"},
		"a pointer to nil":              {func() podSource { return nilPointer }, "informer: New needs a source"},
		"a merge of nil":                {func() podSource { return sources.Merge(none) }, "sources: Merge needs sources, and part 1 of 1 is nil"},
		"a merge with nil":              {func() podSource { return sources.Merge(part, none) }, "sources: Merge needs sources, and part 2 of 2 is nil"},
		"a merge with a pointer to nil": {func() podSource { return sources.Merge(nilPointer, part) }, "sources: Merge needs sources, and part 1 of 2 is nil"},
		"a merge of merges":             {func() podSource { return sources.Merge(part, sources.Merge(part, none)) }, "part 2 of 2 is nil"},
		"a merge at a negative rate":    {func() podSource { return sources.MergeWith(sources.MergeOptions{AtOnce: -1}, part) }, "AtOnce must not be negative"},
		"a merge without sense": {func() podSource {
			return sources.MergeWith(sources.MergeOptions{Backoff: reflector.Backoff{Base: -1}}, part, part)
		}, "MergeOptions: reflector: Options.Backoff"},
		"a transform of nil":               {func() podSource { return sources.Transform(none, same) }, "sources: Transform needs a source"},
		"a transform of a pointer to nil":  {func() podSource { return sources.Transform(nilPointer, same) }, "sources: Transform needs a source"},
		"a transform that does nothing":    {func() podSource { return sources.Transform[*corev1.Pod, *corev1.Pod](part, nil) }, "sources: Transform needs a function"},
		"a transform of a transform":       {func() podSource { return sources.Transform(sources.Transform(none, same), same) }, "sources: Transform needs a source"},
		"a transform of a merge with nil":  {func() podSource { return sources.Transform(sources.Merge(part, none), same) }, "part 2 of 2 is nil"},
		"a merge with a transform of none": {func() podSource { return sources.Merge(part, sources.Transform(none, same)) }, "sources: Transform needs a source"},
	} {
		t.Run(name, func(t *testing.T) {
			var source podSource
			require.NotPanics(t, func() { source = c.source() })
			_, err := informer.New(source, informer.Options[*corev1.Pod]{})
			require.ErrorContains(t, err, c.want)
			require.NotPanics(t, func() { _, err = reflector.New(source, discard{}, reflector.Options{}) })
			if err == nil {
				_, err = source.List(t.Context(), listwatch.ListOptions{})
				require.ErrorContains(t, err, c.want)
				require.ErrorIs(t, err, listwatch.ErrUnusable)
				_, err = source.Watch(t.Context(), listwatch.WatchOptions{})
			}
			require.Error(t, err)
		})
	}
}

// discard is a sink that ignores everything.
type discard struct{}

func (discard) HasVersion(types.NamespacedName, string, uint64) bool { return false }
func (discard) HeldObject(types.NamespacedName) any                  { return nil }
func (discard) Replace(listwatch.Snapshot[*corev1.Pod]) error        { return nil }
func (discard) Apply(listwatch.Event[*corev1.Pod]) error             { return nil }

// AddHandler refuses a handler that was made from a nil argument, because it would panic at its
// first event.
func TestAHandlerMadeFromNilIsRefused(t *testing.T) {
	t.Parallel()
	type (
		event   = informer.Event[*corev1.Pod]
		handler = func(event)
		test    = func(event) bool
	)
	w := newWorkshop(t)
	inf, err := informer.New(rest.Must(w.openPods(informer.Selection{Resource: pods})), informer.Options[*corev1.Pod]{})
	require.NoError(t, err)
	queue := workqueue.New(workqueue.Options[types.NamespacedName]{})
	handle, yes := handler(func(event) {}), test(func(event) bool { return true })
	for name, make := range map[string]func() handler{
		"nil":                      func() handler { return nil },
		"filter of nothing":        func() handler { return informer.Filter(nil, handle) },
		"filter for nobody":        func() handler { return informer.Filter(func(*corev1.Pod) bool { return true }, nil) },
		"predicate of nothing":     func() handler { return predicate.When(nil, handle) },
		"predicate for nobody":     func() handler { return predicate.When(yes, nil) },
		"any of nothing":           func() handler { return predicate.When(predicate.Any(yes, nil), handle) },
		"all of nothing":           func() handler { return predicate.When(predicate.All(yes, nil), handle) },
		"not nothing":              func() handler { return predicate.When(predicate.Not[*corev1.Pod](nil), handle) },
		"objects without a queue":  func() handler { return enqueue.Object[*corev1.Pod](nil) },
		"owners without a queue":   func() handler { return enqueue.Owner[*corev1.Pod](nil, schema.GroupKind{}) },
		"keys without a queue":     func() handler { return enqueue.Map(nil, func(event) iter.Seq[types.NamespacedName] { return nil }) },
		"keys of nothing":          func() handler { return enqueue.Map[*corev1.Pod](queue, nil) },
		"nothing, filtered deeply": func() handler { return predicate.When(yes, enqueue.Object[*corev1.Pod](nil)) },
	} {
		_, err := inf.AddHandler(make(), informer.HandlerOptions{})
		require.ErrorContains(t, err, "needs a handler", name)
	}
}

func TestANilInformerIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	open := func() *informer.Informer[*corev1.Pod] {
		inf, err := informer.New(rest.Must(w.openPods(informer.Selection{Resource: pods})), informer.Options[*corev1.Pod]{})
		require.NoError(t, err)
		return inf
	}
	var none *informer.Informer[*corev1.Pod]
	for name, c := range map[string]struct {
		call func() error
		want string
	}{
		"a preload of no informer": {func() error {
			return informer.Preload(none, func(func(indexer.Entry[*corev1.Pod]) bool) {}, "1")
		}, "Preload needs an informer"},
		"a preload of nothing": {func() error { return informer.Preload(open(), nil, "1") }, "Preload needs an informer, and entries"},
		"a preload from nothing": {func() error {
			return informer.PreloadFrom(open(), nil)
		}, "Preload needs an informer, and entries"},
		"no factory": {func() error {
			_, err := informer.Acquire(nil, informer.Selection{Resource: pods}, w.openPods, informer.Options[*corev1.Pod]{})
			return err
		}, "Acquire needs a Factory"},
	} {
		require.NotPanics(t, func() { require.ErrorContains(t, c.call(), c.want, name) }, name)
	}
}
