package contain_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/contain"
)

// panickingHandler panics in one method.
type panickingHandler struct {
	slog.Handler
	at string
}

func (h panickingHandler) mayPanic(method string) {
	if h.at == method {
		panic("a bug")
	}
}

func (h panickingHandler) Enabled(context.Context, slog.Level) bool {
	h.mayPanic("Enabled")
	return true
}
func (h panickingHandler) Handle(ctx context.Context, r slog.Record) error {
	h.mayPanic("Handle")
	return h.Handler.Handle(ctx, r)
}
func (h panickingHandler) WithAttrs([]slog.Attr) slog.Handler { h.mayPanic("WithAttrs"); return h }
func (h panickingHandler) WithGroup(string) slog.Handler      { h.mayPanic("WithGroup"); return h }

// If a program's log handler panics, only its line is lost.
func TestLoggerDropsLinesOfPanickingHandlers(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"Enabled", "Handle", "WithAttrs", "WithGroup", "nothing"} {
		var log bytes.Buffer
		l := contain.Logger(slog.New(panickingHandler{slog.NewTextHandler(&log, nil), at}))
		require.Same(t, l, contain.Logger(l))
		l.With("a", 1).WithGroup("g").Info("a line")
		require.Equal(t, at != "Enabled" && at != "Handle", strings.Contains(log.String(), "a line"), at)
	}
	require.NotNil(t, contain.Logger(nil))
}

// Each hook that panics gets its own line and its own stack. A hook that panics all the time does
// not hide another hook.
func TestEachHookThatPanicsIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		h := &contain.Hooks{Logger: slog.New(slog.NewTextHandler(&log, nil)), Attrs: []any{"queue", "q"}}
		panics := contain.Hook(h, "OnAdd", func(string) { panic("a bug") })
		for range 10 {
			panics("a")
		}
		contain.Hook2(h, "OnDone", func(string, int) { panic("another bug") })("a", 1)
		require.Equal(t, 1, strings.Count(log.String(), "queue=q function=OnAdd panic=\"a bug\" unlogged=0"), "%s", &log)
		require.Equal(t, 1, strings.Count(log.String(), "queue=q function=OnDone panic=\"another bug\" unlogged=0"), "%s", &log)
		require.Equal(t, 2, strings.Count(log.String(), "stack=\"goroutine"))
		require.EqualValues(t, 11, h.Panics())
		time.Sleep(10 * time.Minute)
		panics("a")
		require.Contains(t, log.String(), "function=OnAdd panic=\"a bug\" unlogged=9")
	})
}
