package contain

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/remind"
)

// Hooks contains functions of a program that are told of something, or that are asked and have a value
// that stands in: observers, rate limiters, functions that group. A panic of one is counted and logged,
// when it begins and every few minutes while it goes on. Each has a stack, and a hook that panics may do
// so for every object.
type Hooks struct {
	// Logger gets the panics, with Attrs, which say whose hooks these are.
	Logger *slog.Logger
	Attrs  []slog.Attr

	mu        sync.Mutex // guards following
	panics    uint64
	panicking remind.Reminder
}

// Panics returns how many calls have panicked, or ended their goroutine.
func (h *Hooks) Panics() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.panics
}

// Call calls a function, whose name is what. It reports whether f has returned. If f calls
// runtime.Goexit, that is logged, and the goroutine ends.
func (h *Hooks) Call(what string, f func()) (returned bool) {
	defer func() {
		if !returned {
			h.caught(what, recover())
		}
	}()
	f()
	return true
}

// caught counts and logs what a function did in place of returning: a panic with a value, or Goexit.
func (h *Hooks) caught(what string, value any) {
	stack := debug.Stack()
	h.mu.Lock()
	h.panics++
	unsaid, due := h.panicking.Due(0, time.Now())
	h.mu.Unlock()
	if !due {
		return
	}
	message := "a function of the program panicked"
	if value == nil {
		message = "a function of the program ended its goroutine, by runtime.Goexit"
	}
	defer func() { _ = recover() }() // of the logger's own handler: there is nobody left to tell
	h.Logger.LogAttrs(context.Background(), slog.LevelError, message, append(h.Attrs[:len(h.Attrs):len(h.Attrs)],
		slog.String("function", what), slog.String("panic", fmt.Sprint(value)), slog.Uint64("others", unsaid), slog.String("stack", string(stack)))...)
}

// Hook returns f with its panics contained by h. If f is nil, so is the result.
func Hook[A any](h *Hooks, what string, f func(A)) func(A) {
	if f == nil {
		return nil
	}
	return func(a A) {
		returned := false
		defer func() {
			if !returned {
				h.caught(what, recover())
			}
		}()
		f(a)
		returned = true
	}
}

// Hook3 is [Hook] for functions of three arguments.
func Hook3[A, B, C any](h *Hooks, what string, f func(A, B, C)) func(A, B, C) {
	if f == nil {
		return nil
	}
	return func(a A, b B, c C) {
		returned := false
		defer func() {
			if !returned {
				h.caught(what, recover())
			}
		}()
		f(a, b, c)
		returned = true
	}
}

// Hook2 is [Hook] for functions of two arguments.
func Hook2[A, B any](h *Hooks, what string, f func(A, B)) func(A, B) {
	if f == nil {
		return nil
	}
	return func(a A, b B) {
		returned := false
		defer func() {
			if !returned {
				h.caught(what, recover())
			}
		}()
		f(a, b)
		returned = true
	}
}
