package reflector

import (
	"context"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/listwatch"
)

// retainingSource is a source whose stream keeps its options, as a stream that reads ahead does.
// The source itself keeps only the Progress function, as a timer of a source does.
type retainingSource struct {
	discardSource
	progress []func()
}

type retainingStream struct {
	*watchStream
	opts listwatch.WatchOptions
}

func (k *retainingSource) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[string], error) {
	k.progress = append(k.progress, opts.IdleTimeout.Progress, opts.InitialIdleTimeout.Progress)
	return &retainingStream{&watchStream{&stream{ctx: ctx, play: []any{added("a@1"), endMarker("10")}}}, opts}, nil
}

type discardSource struct{}

func (discardSource) List(ctx context.Context, _ listwatch.ListOptions) (listwatch.ListStream[string], error) {
	return nil, ctx.Err()
}

// After Run has ended, other code may still refer to parts of the reflector. These references must
// not keep the sink or its store in memory.
func TestNothingRetainsTheSinkAfterRun(t *testing.T) {
	t.Parallel()
	k := &retainingSource{}
	run := func() weak.Pointer[mirror] {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		sink := newRig(Options{}).sink
		r, err := New[string](k, sink, Options{ListMode: WatchList})
		require.NoError(t, err)
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		require.Eventually(t, func() bool { return len(sink.now()) == 1 }, time.Minute, time.Millisecond)
		cancel()
		require.NoError(t, <-ended)
		return weak.Make(sink)
	}
	sink := run()
	require.Eventually(t, func() bool {
		runtime.GC()
		return sink.Value() == nil
	}, time.Minute, 10*time.Millisecond)
	require.Len(t, k.progress, 2)
	k.progress[0]()
}
