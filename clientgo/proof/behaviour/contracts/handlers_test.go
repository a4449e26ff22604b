package contracts

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// nothing is a handler type of a program.
type nothing struct{}

func (nothing) OnAdd(any, bool)   {}
func (nothing) OnUpdate(any, any) {}
func (nothing) OnDelete(any)      {}

//go:noinline
func newHandlerFuncs() cache.ResourceEventHandlerFuncs {
	return cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}, DeleteFunc: func(any) {}}
}

// The logs of WaitFor name handlers. The name of a type includes its package. A function literal
// has the name of the function that contains it.
func TestHandlersHaveNames(t *testing.T) {
	const here = "github.com/kinform/kinform/clientgo/proof/behaviour/contracts."
	informer := cache.NewSharedIndexInformer((&server{}).source(), &corev1.Pod{}, 0, cache.Indexers{})
	for _, c := range []struct {
		handler cache.ResourceEventHandler
		name    string
	}{
		{nothing{}, here + "nothing"},
		{&nothing{}, here + "nothing"},
		{(*nothing)(nil), "*contracts.nothing"},
		{newHandlerFuncs(), here + "newHandlerFuncs"},
		{&cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) {}}, here + "TestHandlersHaveNames"},
		{cache.ResourceEventHandlerFuncs{AddFunc: newHandlerFuncs().AddFunc, UpdateFunc: nothing{}.OnUpdate}, here + "newHandlerFuncs.func1+" + here + "nothing.OnUpdate-fm"},
		{cache.ResourceEventHandlerFuncs{}, "cache.ResourceEventHandlerFuncs"},
	} {
		r, err := informer.AddEventHandler(c.handler)
		require.NoError(t, err)
		require.Equal(t, "SharedIndexInformer *v1.Pod + event handler "+c.name, r.HasSyncedChecker().Name())
	}
}

// Adapters have the name of the handler that they call. In client-go they have their own name.
func TestAdaptersAreNamedAfterTheirHandlers(t *testing.T) {
	const here = "github.com/kinform/kinform/clientgo/proof/behaviour/contracts."
	informer := cache.NewSharedIndexInformer((&server{}).source(), &corev1.Pod{}, 0, cache.Indexers{})
	for _, h := range []cache.ResourceEventHandler{
		cache.ResourceEventHandlerDetailedFuncs{AddFunc: func(any, bool) {}},
		cache.FilteringResourceEventHandler{FilterFunc: func(any) bool { return true }, Handler: cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}}},
	} {
		r, err := informer.AddEventHandler(h)
		require.NoError(t, err)
		require.Equal(t, "SharedIndexInformer *v1.Pod + event handler "+here+"TestAdaptersAreNamedAfterTheirHandlers", r.HasSyncedChecker().Name())
	}
	r, err := cache.NewTypedSharedIndexInformer[*corev1.Pod](informer).AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{AddFunc: func(*corev1.Pod) {}})
	require.NoError(t, err)
	require.Equal(t, "SharedIndexInformer *v1.Pod + event handler "+here+"TestAdaptersAreNamedAfterTheirHandlers", r.HasSyncedChecker().Name())
}

// The logger in a handler's options logs the panics of the handler.
func TestPanicsOfAHandlerGoToItsLogger(t *testing.T) {
	var loggers []string
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){func(ctx context.Context, _ any) { klog.FromContext(ctx).Info("panic") }}
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = true, nil }()
	named := func(name string) *logr.Logger {
		logger := funcr.New(func(prefix, _ string) { loggers = append(loggers, prefix) }, funcr.Options{}).WithName(name)
		return &logger
	}
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		informer := cache.NewSharedIndexInformer(s.source(), &corev1.Pod{}, 0, cache.Indexers{})
		_, err := informer.AddEventHandlerWithOptions(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { panics() }}, cache.HandlerOptions{Logger: named("of the handler")})
		require.NoError(t, err)
		run(t, func(ctx context.Context) { informer.RunWithContext(klog.NewContext(ctx, *named("of the run"))) }, func() {
			s.last(t).Add(pod("a", "11"))
			sleepAndSettle(time.Second)
		})
	})
	require.Equal(t, []string{"of the handler"}, loggers)
}
