package lab_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/view/lab"
)

// harness is a laboratory that runs in a bubble.
type harness struct {
	*lab.Lab
	t *testing.T
}

func inBubble(t *testing.T, opts lab.Options, test func(*testing.T, harness)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, err := lab.New(opts)
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx) }()
		b := harness{l, t}
		defer func() {
			stop()
			require.NoError(t, <-ended)
			_, err := l.Do(t.Context(), "drop", nil)
			require.Error(t, err, "Do must fail after the end of Run")
		}()
		b.settle()
		require.True(t, l.Status().Synced)
		test(t, b)
	})
}

// settle waits until all due events have happened.
func (b harness) settle() {
	time.Sleep(50 * time.Millisecond)
	synctest.Wait()
}

// press presses a button, with pairs of inputs and values, and waits for its effects.
func (b harness) press(action string, pairs ...string) string {
	b.t.Helper()
	actions := b.Actions()
	n := slices.IndexFunc(actions, func(a view.Action) bool { return a.ID == action })
	require.GreaterOrEqual(b.t, n, 0, "the laboratory must have a button %s", action)
	values := map[string]string{}
	for _, input := range actions[n].Inputs {
		values[input.ID] = input.Default
	}
	for pair := range slices.Chunk(pairs, 2) {
		require.Contains(b.t, values, pair[0], "the input must be an input of %s", action)
		values[pair[0]] = pair[1]
	}
	for _, input := range actions[n].Inputs {
		require.NoError(b.t, input.Check(values[input.ID]), "%s, %s", action, input.ID)
	}
	said, err := b.Do(b.t.Context(), action, values)
	require.NoError(b.t, err)
	require.NotEmpty(b.t, said)
	b.settle()
	return said
}

func (b harness) queue() view.Box { return b.box("queue") }

// box returns a box of a new frame.
func (b harness) box(id string) view.Box {
	b.t.Helper()
	for _, box := range b.frame().Boxes {
		if box.ID == id {
			return box
		}
	}
	require.Fail(b.t, "no box", id)
	return view.Box{}
}

func (b harness) frame() *view.Frame {
	b.t.Helper()
	ctx, stop := context.WithCancel(b.t.Context())
	defer stop()
	_, frames, err := b.View().Frames(ctx, "")
	require.NoError(b.t, err)
	for frame := range frames {
		return frame
	}
	require.Fail(b.t, "no frame")
	return nil
}
