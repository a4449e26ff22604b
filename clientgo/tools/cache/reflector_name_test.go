package cache_test

import (
	"context"
	"errors"
	"testing"

	"k8s.io/client-go/tools/cache"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

func TestAnUnnamedReflectorIsNamedAfterItsCaller(t *testing.T) {
	r := cache.NewReflector(&cache.ListWatch{}, &v1.Pod{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
	require.Regexp(t, `^reflector_name_test\.go:\d+$`, r.Name())
}

// In a program with "go informer.Run(stop)", no frame of the goroutine's stack is the program's.
func TestAnInformersReflectorIsNamedAfterTheCodeThatStartsIt(t *testing.T) {
	lw := &cache.ListWatch{
		ListFunc:  func(metav1.ListOptions) (runtime.Object, error) { return nil, errors.New("no") },
		WatchFunc: func(metav1.ListOptions) (watch.Interface, error) { return nil, errors.New("no") },
	}
	names := make(chan string)
	errorHandler := func(ctx context.Context, r *cache.Reflector, _ error) {
		select {
		case names <- r.Name():
		case <-ctx.Done():
		}
	}
	shared := cache.NewSharedIndexInformer(lw, &v1.Pod{}, 0, nil)
	require.NoError(t, shared.SetWatchErrorHandlerWithContext(errorHandler))
	controller := cache.New(&cache.Config{
		ListerWatcher: lw, ObjectType: &v1.Pod{}, WatchErrorHandlerWithContext: errorHandler,
		Queue: cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{}), Process: func(any, bool) error { return nil },
	})
	for kind, informer := range map[string]cache.Controller{"shared": shared, "controller": controller} {
		t.Run(kind, func(t *testing.T) {
			stop := make(chan struct{})
			defer close(stop) // goleak waits for the informer to end
			go informer.Run(stop)
			require.Regexp(t, `^reflector_name_test\.go:\d+$`, <-names)
		})
	}
}
