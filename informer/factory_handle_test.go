package informer

import (
	"context"
	"errors"
	"testing"

	"github.com/kinform/kinform/listwatch"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A handle may live as long as the program, with a handler for each request. It must not keep
// removed handlers.
func TestHandleForgetsHandlersThatWereRemoved(t *testing.T) {
	t.Parallel()
	var factory Factory
	what := Selection{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}}
	handle, err := Acquire(&factory, what, func(Selection) (listwatch.Source[string], error) { return nowhere{}, nil }, Options[string]{})
	require.NoError(t, err)
	for range 100 {
		registration, err := handle.AddHandler(func(Event[string]) {}, HandlerOptions{})
		require.NoError(t, err)
		registration.Remove()
	}
	require.Len(t, handle.registrations, 1, "the handle keeps only the last registration, which the next AddHandler forgets")
	require.NoError(t, handle.Release(t.Context()))
}

// nowhere is an unreachable server.
type nowhere struct{}

func (nowhere) List(context.Context, listwatch.ListOptions) (listwatch.ListStream[string], error) {
	return nil, errors.ErrUnsupported
}

func (nowhere) Watch(context.Context, listwatch.WatchOptions) (listwatch.WatchStream[string], error) {
	return nil, errors.ErrUnsupported
}
