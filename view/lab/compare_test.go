package lab_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view/lab"
)

// running returns a laboratory without pods that runs until the test ends. The context ends with
// the laboratory.
func running(t *testing.T) (*lab.Lab, context.Context) {
	t.Helper()
	l, err := lab.New(lab.Options{Pods: -1})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	t.Cleanup(func() { stop(); require.NoError(t, <-ended) })
	return l, ctx
}

// A page may press a button before Run has started the workers.
func TestButtonsWaitForTheWorkers(t *testing.T) {
	t.Parallel()
	for range 50 {
		t.Run("", func(t *testing.T) {
			l, ctx := running(t)
			_, err := l.Do(ctx, "workers", map[string]string{"n": "2"})
			require.NoError(t, err)
		})
	}
}

func TestCompareLists(t *testing.T) {
	t.Parallel()
	l, ctx := running(t)
	require.Nil(t, l.Comparison())
	pressed, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := l.Do(pressed, "compare", map[string]string{"n": "2000"})
		done <- err
	}()
	require.Eventually(t, func() bool { return l.Comparison() != nil }, time.Minute, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled, "Do must end with the context of its caller")
	for _, way := range l.Comparison().Methods {
		require.Positive(t, way.All, "the comparison must have only complete measurements")
	}

	said, err := l.Do(ctx, "compare", map[string]string{"n": "150"})
	require.NoError(t, err)
	require.Regexp(t, `^list of 150 pods: the first after .*, all after .*, memory up to \d+ MB more; paged of 150 pods: .*; watchlist of 150 pods: .* MB more$`, said)
	require.NotContains(t, said, "the first after 0s", "a streaming list must have a time of the first object")
	shown := l.Comparison()
	require.Equal(t, 150, shown.Objects)
	require.Len(t, shown.Methods, 3)
	for n, way := range shown.Methods {
		require.Equal(t, []string{"list", "paged", "watchlist"}[n], way.Name)
		require.Positive(t, way.First, way.Name)
		require.Greater(t, way.All, way.First, way.Name)
		require.NotEmpty(t, way.Memory, way.Name)
		require.Positive(t, way.Peak, way.Name)
		require.LessOrEqual(t, way.Memory[len(way.Memory)-1][0], way.All)
	}
	look, stopLooking := context.WithCancel(ctx)
	_, frames, err := l.View().Frames(look, "")
	require.NoError(t, err)
	for frame := range frames {
		require.Equal(t, shown, frame.Comparison, "each frame must have the comparison")
		break
	}
	stopLooking()
	_, err = l.Do(ctx, "reset", nil)
	require.NoError(t, err)
	require.Nil(t, l.Comparison())
}

// Two simultaneous comparisons would disturb each other's measurements.
func TestOneComparisonAtATime(t *testing.T) {
	t.Parallel()
	l, ctx := running(t)
	done := make(chan error, 1)
	go func() {
		_, err := l.Do(ctx, "compare", map[string]string{"n": "200"})
		done <- err
	}()
	require.Eventually(t, func() bool { return l.Comparison() != nil }, time.Minute, time.Millisecond)
	_, err := l.Do(ctx, "compare", map[string]string{"n": "100"})
	require.ErrorContains(t, err, "wait for its end")
	require.NoError(t, <-done)
	require.Len(t, l.Comparison().Methods, 3)
}
