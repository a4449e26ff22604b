package cache

import (
	"context"
	"reflect"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
)

// wrappedClient is a program's client that wraps a client of this module. It may change lists.
type wrappedClient struct{ *dynamic.DynamicClient }

func TestWhichListFunctionsPassObjectsToTheReflector(t *testing.T) {
	pod := reflect.TypeFor[*corev1.Pod]()
	require.True(t, streams(NewListWatchFromClient(nil, "pods", "", fields.Everything()), pod))
	own := func(context.Context, metav1.ListOptions) (kruntime.Object, error) { return nil, nil }
	require.False(t, streams(&ListWatch{ListWithContextFunc: own}, pod))
	require.False(t, streams(&ListWatch{}, pod))
	require.False(t, streams(contextFree{}, pod))
	around := NewListWatchFromClient(nil, "pods", "", fields.Everything())
	inner := around.ListWithContextFunc
	around.ListWithContextFunc = func(ctx context.Context, options metav1.ListOptions) (kruntime.Object, error) {
		return inner(ctx, options)
	}
	require.False(t, streams(around, pod), "a program's own function may read the items")

	for _, name := range []string{
		"k8s.io/client-go/informers/core/v1.NewFilteredPodInformer.func1",
		"k8s.io/client-go/informers/internal.List[...].func1",
		"k8s.io/client-go/dynamic/dynamicinformer.NewFilteredDynamicInformer.func1",
		"k8s.io/client-go/metadata/metadatainformer.NewFilteredMetadataInformer.func1",
		"sigs.k8s.io/gateway-api/pkg/client/informers/externalversions/apis/v1.NewFilteredGatewayInformer.func1",
	} {
		require.True(t, isFactory(name), name)
	}
	for _, name := range []string{
		"", "main.main.func1", "example.com/informers/externalversions/v1.New.func1",
		"example.com/x/k8s.io/client-go/informers.f", "example.com/informers/externalversions",
	} {
		require.False(t, isFactory(name), name)
	}

	require.True(t, isClient(reflect.TypeFor[*dynamic.DynamicClient]()))
	require.True(t, isClient(reflect.TypeFor[*metadata.Client]()))
	require.False(t, isClient(reflect.TypeFor[dynamic.DynamicClient]()))
	require.False(t, isClient(reflect.TypeFor[*wrappedClient]()))
	require.False(t, isClient(reflect.TypeFor[wrappedClient]()))
	require.False(t, isClient(nil))
}

func TestKnownVersionsOfControllerRuntime(t *testing.T) {
	with := func(m *debug.Module) *debug.BuildInfo { return &debug.BuildInfo{Deps: []*debug.Module{m}} }
	require.True(t, isKnownRuntime(with(&debug.Module{Path: runtimeModule, Version: "v0.25.2"})))
	require.False(t, isKnownRuntime(with(&debug.Module{Path: runtimeModule, Version: "v0.26.0"})), "the list functions of later versions were not checked")
	require.False(t, isKnownRuntime(with(&debug.Module{Path: runtimeModule, Version: "v0.25.2", Replace: &debug.Module{Path: "../fork"}})))
	require.False(t, isKnownRuntime(with(&debug.Module{Path: "example.com/other", Version: "v0.25.2"})))
	require.True(t, isKnownRuntime(&debug.BuildInfo{Main: debug.Module{Path: runtimeModule, Version: "(devel)"}}))
	require.False(t, knownRuntime(), "this test does not link controller-runtime")
}
