package cache

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

type panickingChecker struct{}

func (panickingChecker) Name() string          { return "panicking" }
func (panickingChecker) Done() <-chan struct{} { panic("on purpose") }

// If a program's checker panics, WaitFor panics without waiting for the other checkers.
func TestWaitForPassesAPanicOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		never := doneChecker{"never", make(chan struct{})}
		require.PanicsWithValue(t, "on purpose", func() { WaitFor(ctx, "", never, panickingChecker{}) })
	})
}
